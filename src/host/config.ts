// The type of the option `config`: the keys of `opencode.json`. `docs/configuration.md` describes each further.

import type { JsonValue } from "../index.js";
import type { ModelSelection, OlderProviderConfig, ProviderConfig, RequestConfig } from "./config-models.js";

export type * from "./config-models.js";

/**
 * Configuration with the keys of `opencode.json`. All keys are optional. If several documents have a key, the one with
 * the highest precedence counts. The option `config` has the highest of all.
 *
 * @example
 * ```ts
 * const config: OpenCodeConfig = {
 *   model: "openai/gpt-4.1-mini",
 *   permissions: [{ action: "bash", resource: "git *", effect: "allow" }],
 *   agents: { build: { steps: 20 } },
 * }
 * ```
 */
export interface OpenCodeConfig extends OlderConfig, ForeignConfig {
  /**
   * The model of sessions without one. Default: the newest usable model.
   *
   * @example "openai/gpt-4.1-mini", or "anthropic/claude-sonnet-4-5#high" for a variant
   */
  readonly model?: ModelSelection | undefined;
  /** The model for small tasks. This version does not use it. Default: none. */
  readonly small_model?: ModelSelection | undefined;
  /** Providers and their models, by the provider's id. They extend the known data of these providers. */
  readonly providers?: Readonly<Record<string, ProviderConfig>> | undefined;
  /** The only providers that may be used, by id. Default: all. */
  readonly enabled_providers?: readonly string[] | undefined;
  /** Providers that may not be used, by id. Default: none. */
  readonly disabled_providers?: readonly string[] | undefined;
  /** Settings whose form may change. */
  readonly experimental?: ExperimentalConfig | undefined;
  /** The agent of sessions without one. Default: `"build"`. */
  readonly default_agent?: string | undefined;
  /** Agents, by id: new ones, and changes to those that exist (`build`, `plan`, `general`, `explore`). */
  readonly agents?: Readonly<Record<string, AgentConfig>> | undefined;
  /**
   * Permissions of every agent, at most 1,000 rules. The last rule that matches decides; without one the user is
   * asked.
   */
  readonly permissions?: readonly PermissionRuleConfig[] | undefined;
  /** Prompts with a name, for `commands.list`. */
  readonly commands?: Readonly<Record<string, CommandConfig>> | undefined;
  /**
   * Directories of skills; relative ones start at the session's directory, `~/` at the home directory. The older
   * form has paths and addresses apart. Addresses have no effect in this version.
   */
  readonly skills?: readonly string[] | OlderSkillsConfig | undefined;
  /**
   * Directories and repositories that agents may read in addition to the project, by name: a path that begins with `.`, `/` or
   * `~`, a repository such as `"owner/name"`, or either with a description.
   */
  readonly references?: Readonly<Record<string, string | ReferenceConfig>> | undefined;
  /**
   * Files, globs and http or https addresses whose text the model receives, at most 1,000. Relative ones start at
   * the directory of the session.
   */
  readonly instructions?: readonly string[] | undefined;
  /** True if the worktree is captured around steps, so that a session can be reverted. Default: true. */
  readonly snapshots?: boolean | undefined;
  /** Permission to share sessions. This version shares nothing. Default: `"manual"`. */
  readonly share?: "manual" | "auto" | "disabled" | boolean | undefined;
  /** The replacement of a long Session History by a summary. */
  readonly compaction?: CompactionConfig | undefined;
  /** Limits of the tool output that a model receives. The rest is kept in a file. */
  readonly tool_output?: ToolOutputConfig | undefined;
  /** Limits of the images that the tool `read` shows. */
  readonly attachments?: AttachmentsConfig | undefined;
  /** This version watches no files for it. */
  readonly watcher?: { readonly ignore?: readonly string[] | undefined } | undefined;
  /**
   * The program that runs the commands of the tool `bash`, and terminals: a path, or a name in `PATH`.
   * Default: `/bin/sh`; on Windows the one that `COMSPEC` names.
   */
  readonly shell?: string | undefined;
  /** The user's name. This version does not use it. Default: none. */
  readonly username?: string | undefined;
  /** The time zone of the user, such as `"Europe/Oslo"`. Default: `TZ` of the environment, else that of the machine. */
  readonly timezone?: string | undefined;
  /** Servers of the Model Context Protocol. The host starts them at their first use. Default: none. */
  readonly mcp?: McpConfig | undefined;
}

/** Settings whose form may change. */
export interface ExperimentalConfig {
  /** Statements about the use of providers. The last statement that matches decides. */
  readonly policies?: readonly ProviderPolicyConfig[] | undefined;
  /** The older name of `mcp.timeout.request`. */
  readonly mcp_timeout?: number | undefined;
  /** This version does not use it. The option `limits.subagentDepth` bounds the depth of tasks. */
  readonly subagent_depth?: number | undefined;
}

/** A statement about the use of providers. */
export interface ProviderPolicyConfig {
  /** The decision. */
  readonly action: "provider.use";
  /** The decision. */
  readonly effect: "allow" | "deny";
  /** A glob over the ids of providers; `*` is any text. */
  readonly resource: string;
}

/** The decision about an action. */
export type PermissionEffectConfig = "allow" | "deny" | "ask";

/** A rule about the actions of an agent. */
export interface PermissionRuleConfig {
  /** The action, which may be a glob: `"read"`, `"edit"`, `"bash"`, `"webfetch"`, `"*"`. */
  readonly action: string;
  /** A glob over the resource of the action: a path, a command, an address. `*` is any text, `?` one character. */
  readonly resource: string;
  /** The decision. */
  readonly effect: PermissionEffectConfig;
}

/** An agent. An omitted member keeps its value. */
export interface AgentConfig {
  /** The model of sessions without one. Default: the model of the configuration. */
  readonly model?: ModelSelection | undefined;
  /** The variant of that model. Default: the model's own. */
  readonly variant?: string | undefined;
  /** Headers and options of the agent's model requests. */
  readonly request?: RequestConfig | undefined;
  /** The agent's own instructions for the model. Default: those of the model's family. */
  readonly system?: string | undefined;
  /** Purpose of the agent. */
  readonly description?: string | undefined;
  /** The callers that may choose it: users (`"primary"`), other agents (`"subagent"`) or both. Default: `"all"`. */
  readonly mode?: "primary" | "subagent" | "all" | undefined;
  /** True if user interfaces hide it. Default: false. */
  readonly hidden?: boolean | undefined;
  /** Its colour: `"#rrggbb"`, or one of a theme. */
  readonly color?: AgentColorConfig | undefined;
  /** Provider Turns per prompt, a whole number from 1 on. In the last one there are no tools. Default: no bound. */
  readonly steps?: number | undefined;
  /** True if the agent is removed. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Rules that follow the rules for all agents. */
  readonly permissions?: readonly PermissionRuleConfig[] | undefined;
}

/** A colour of an agent. */
export type AgentColorConfig =
  | `#${string}`
  | "primary"
  | "secondary"
  | "accent"
  | "success"
  | "warning"
  | "error"
  | "info";

/** A prompt with a name. An omitted member keeps its value. */
export interface CommandConfig {
  /** The prompt, with places for arguments: `$ARGUMENTS`, `$1`, `$2`. */
  readonly template?: string | undefined;
  /** Purpose of the command. */
  readonly description?: string | undefined;
  /** The agent that answers. Default: that of the session. */
  readonly agent?: string | undefined;
  /** The model that answers. Default: that of the session. */
  readonly model?: ModelSelection | undefined;
  /** The variant of that model. */
  readonly variant?: string | undefined;
  /** True if it runs in a separate session. Default: false. */
  readonly subtask?: boolean | undefined;
}

/** A directory or a repository that agents may read in addition to the project. */
export type ReferenceConfig = (
  | {
      /** A directory; a relative one starts at the directory of the session. */
      readonly path: string;
      readonly repository?: undefined;
    }
  | {
      readonly path?: undefined;
      /** `owner/name`, `host/path`, `user@host:path` or an address. It has to be cloned by hand. */
      readonly repository: string;
      /** Default: the one that the repository names. */
      readonly branch?: string | undefined;
    }
) & {
  /** Its description for the model. */
  readonly description?: string | undefined;
  /** True if user interfaces hide it. Default: false. */
  readonly hidden?: boolean | undefined;
};

/** When and how a long Session History is replaced by a summary. */
export interface CompactionConfig {
  /** True if it happens automatically. Default: true. */
  readonly auto?: boolean | undefined;
  /** True if old tool output is removed from requests before that. Default: true. */
  readonly prune?: boolean | undefined;
  /** The part of the newest history that stays in full. */
  readonly keep?:
    | {
        /** Tokens. Default: 8000. */
        readonly tokens?: number | undefined;
      }
    | undefined;
  /** Tokens of the model's window that stay free. Default: 20000. */
  readonly buffer?: number | undefined;
  /** The older name of `keep.tokens`. */
  readonly preserve_recent_tokens?: number | undefined;
  /** The older name of `buffer`. */
  readonly reserved?: number | undefined;
}

/** Servers of the Model Context Protocol: by name, or in `servers` beside time limits of all servers. */
export type McpConfig =
  | {
      /** Time limits of servers that have none of their own. */
      readonly timeout?: McpTimeoutConfig | undefined;
      /** Servers, by name. */
      readonly servers?: Readonly<Record<string, McpServerConfig>> | undefined;
    }
  | Readonly<Record<string, McpServerConfig>>;

/** Time limits for servers, in milliseconds. */
export interface McpTimeoutConfig {
  /** For the connection, the initialisation and the first listing. Default: 30000. */
  readonly startup?: number | undefined;
  /** For each request. A progress report of the server starts it again. Default: 30000. */
  readonly request?: number | undefined;
  /** This version does not use it. */
  readonly catalog?: number | undefined;
  /** Another name of `request`. */
  readonly execution?: number | undefined;
}

/** A child process of the host, a server behind an address, or a switch of a server of a weaker configuration. */
export type McpServerConfig =
  | (McpServerSettings & {
      readonly type: "local";
      /** The program and its arguments. */
      readonly command: readonly string[];
      /** Additional variables of its environment. Otherwise it has the variables of commands. Default: none. */
      readonly environment?: Readonly<Record<string, string>> | undefined;
      /** Its working directory, relative to the directory of the Location. Default: that directory. */
      readonly cwd?: string | undefined;
    })
  | (McpServerSettings & {
      readonly type: "remote";
      /** The http or https address of its Streamable HTTP endpoint. */
      readonly url: string;
      /** HTTP headers of every request. Default: none. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** Settings of OAuth; `false` if the server must not use it. Default: the host discovers them. */
      readonly oauth?: McpOAuthConfig | false | undefined;
    })
  | { readonly type?: undefined; readonly enabled: boolean };

/** Settings of OAuth for one server, in the spelling of either generation of the format. */
export interface McpOAuthConfig {
  /** The id of a registered client. Default: the host registers one (RFC 7591). */
  readonly clientId?: string | undefined;
  /** The secret of that client. Default: none. */
  readonly clientSecret?: string | undefined;
  /** The scopes to request, separated by spaces. Default: those that the server names. */
  readonly scope?: string | undefined;
  /** The port of the redirect address on this machine. Default: 19876. */
  readonly callbackPort?: number | undefined;
  /** The whole redirect address. Default: `http://127.0.0.1:<port>/mcp/oauth/callback`. */
  readonly redirectUri?: string | undefined;
  /** The newer form of `clientId`. */
  readonly client_id?: string | undefined;
  /** The newer form of `clientSecret`. */
  readonly client_secret?: string | undefined;
  /** The newer form of `callbackPort`. */
  readonly callback_port?: number | undefined;
  /** The newer form of `redirectUri`. */
  readonly redirect_uri?: string | undefined;
}

/** Fields that every server may have. */
export interface McpServerSettings {
  /** False if the host must not start the server. Default: true. */
  readonly enabled?: boolean | undefined;
  /** The newer form of `enabled`, with the opposite meaning. It is stronger. */
  readonly disabled?: boolean | undefined;
  /** Time limits of this server. A number is the limit of a request in milliseconds. */
  readonly timeout?: number | McpTimeoutConfig | undefined;
  /** This version does not use it. */
  readonly codemode?: JsonValue | undefined;
}

/** Limits of the tool output that a model receives. */
export interface ToolOutputConfig {
  /** Lines, from 1 on. Default: 2000. */
  readonly max_lines?: number | undefined;
  /** Bytes, from 1 on. Default: 51200. */
  readonly max_bytes?: number | undefined;
}

/** Limits of the images that the tool `read` shows. */
export interface AttachmentsConfig {
  readonly image?:
    | {
        /** True if a larger image is scaled down. Default: true. */
        readonly auto_resize?: boolean | undefined;
        /** Pixels, from 1 on. Default: 2000. */
        readonly max_width?: number | undefined;
        /** Pixels, from 1 on. Default: 2000. */
        readonly max_height?: number | undefined;
        /** Bytes of the image as base64, from 1 on. Default: 5242880. */
        readonly max_base64_bytes?: number | undefined;
      }
    | undefined;
}

/** Older names, which still work. If a document has both, the newer one counts. */
export interface OlderConfig {
  /** The older form of `providers`. */
  readonly provider?: Readonly<Record<string, OlderProviderConfig>> | undefined;
  /** The older form of `agents`. */
  readonly agent?: Readonly<Record<string, OlderAgentConfig>> | undefined;
  /** Agents that users may choose, in the older form of `agents`. */
  readonly mode?: Readonly<Record<string, OlderAgentConfig>> | undefined;
  /** The older form of `permissions`. */
  readonly permission?: OlderPermissionConfig | undefined;
  /** Which tools may be used, by name. Older than `permission`. */
  readonly tools?: Readonly<Record<string, boolean>> | undefined;
  /** The older name of `commands`. */
  readonly command?: Readonly<Record<string, CommandConfig>> | undefined;
  /** The older name of `references`. */
  readonly reference?: Readonly<Record<string, string | ReferenceConfig>> | undefined;
  /** The older name of `snapshots`. */
  readonly snapshot?: boolean | undefined;
  /** The older form of `share: "auto"`. */
  readonly autoshare?: boolean | undefined;
  /** The older name of `attachments`. */
  readonly attachment?: AttachmentsConfig | undefined;
  /** Another older name of `attachments`. */
  readonly media?: AttachmentsConfig | undefined;
}

/** Rules for all actions at once, or by action: one decision, or one by resource. */
export type OlderPermissionConfig =
  | PermissionEffectConfig
  | Readonly<Record<string, PermissionEffectConfig | Readonly<Record<string, PermissionEffectConfig>>>>;

/** Directories and addresses of skills. */
export interface OlderSkillsConfig {
  /** Directories. */
  readonly paths?: readonly string[] | undefined;
  /** Addresses. They have no effect in this version. */
  readonly urls?: readonly string[] | undefined;
}

/** An agent in the older form. Unknown members are options of its model requests, such as `temperature`. */
export interface OlderAgentConfig extends Omit<AgentConfig, "permissions"> {
  /** It has no effect: the key under which an agent stands is its name. */
  readonly name?: string | undefined;
  /** The older name of `system`. */
  readonly prompt?: string | undefined;
  /** The older name of `disabled`. */
  readonly disable?: boolean | undefined;
  /** The older name of `steps`. */
  readonly maxSteps?: number | undefined;
  /** Which tools the agent may use, by name. */
  readonly tools?: Readonly<Record<string, boolean>> | undefined;
  /** The older form of `permissions`. */
  readonly permission?: OlderPermissionConfig | undefined;
  /** Rules after those of `permission`. */
  readonly permissions?: readonly PermissionRuleConfig[] | undefined;
  /** Options of its model requests. */
  readonly options?: Readonly<Record<string, JsonValue | undefined>> | undefined;
  readonly [option: string]: unknown;
}

/** Keys of other programs that read the same file. They have no effect here. */
export interface ForeignConfig {
  readonly $schema?: string | undefined;
  readonly autoupdate?: JsonValue | undefined;
  readonly enterprise?: JsonValue | undefined;
  readonly formatter?: JsonValue | undefined;
  readonly keybinds?: JsonValue | undefined;
  readonly layout?: JsonValue | undefined;
  readonly logLevel?: JsonValue | undefined;
  readonly lsp?: JsonValue | undefined;
  readonly plugin?: JsonValue | undefined;
  readonly plugins?: JsonValue | undefined;
  readonly server?: JsonValue | undefined;
  readonly subagent_depth?: JsonValue | undefined;
  readonly theme?: JsonValue | undefined;
  readonly tui?: JsonValue | undefined;
}
