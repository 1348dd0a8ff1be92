// The page of docs/use-chat.md, for the session in its address.

import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createRoot } from "react-dom/client";

function Chat({ id, messages }) {
  const chat = useChat({ id, messages, resume: true, transport: new DefaultChatTransport({ api: "/chat" }) });
  return (
    <form action={(form) => chat.sendMessage({ text: form.get("text") })}>
      {chat.messages.map((message) => (
        <p key={message.id} className={message.role}>
          {message.parts.map((part) => (part.type === "text" ? part.text : ""))}
        </p>
      ))}
      <input name="text" />
      <output>{chat.error?.message ?? chat.status}</output>
    </form>
  );
}

const id = new URL(location.href).searchParams.get("id");
const messages = await (await fetch(`/chat/${id}`)).json();
createRoot(document.body).render(<Chat id={id} messages={messages} />);
