import { fs } from "./builtins.js";

type Report = { header?: { glibcVersionRuntime?: string }; sharedObjects?: string[] };

/** Where an executable of Linux names the loader of its C library. */
const HEAD_BYTES = 4096;

/** The platform as the packages with the addons are called after it: `linux-x64-gnu`, `darwin-arm64`. */
export function describePlatform() {
  const { platform, arch } = process;
  if (platform === "linux") return `linux-${arch}-${usesMusl() ? "musl" : "gnu"}`;
  return platform === "win32" ? `win32-${arch}-msvc` : `${platform}-${arch}`;
}

/** Whether this runtime is linked with musl. The C library of the runtime counts, not others on the system. */
function usesMusl() {
  const head = readHead(process.execPath);
  if (head.includes("/ld-musl-")) return true;
  return !head.includes("/ld-linux-") && glibcVersion() === undefined && sharesMusl();
}

/** The first bytes of a file, each as one character; nothing when it cannot be read. */
function readHead(file: string) {
  let descriptor;
  try {
    descriptor = fs.openSync(file, "r");
    const head = Buffer.alloc(HEAD_BYTES);
    return head.toString("latin1", 0, fs.readSync(descriptor, head, 0, HEAD_BYTES, 0));
  } catch {
    return "";
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** The version of the glibc that this runtime uses. @returns {string | undefined} */
export function glibcVersion(): string | undefined {
  return readReport()?.header?.glibcVersionRuntime;
}

function sharesMusl() {
  return (
    readReport()?.sharedObjects?.some((file) => file.includes("/ld-musl-") || file.includes("libc.musl-")) === true
  );
}

/** What Node reports about itself. @returns {Report | undefined} */
function readReport(): Report | undefined {
  // Node 20.0 to 20.12 do not know the setting.
  const report = process.report as (NodeJS.ProcessReport & { excludeNetwork?: boolean }) | undefined;
  if (report === undefined) return undefined;
  // The names of connected hosts would be looked up, which can take seconds.
  const { excludeNetwork = false } = report;
  try {
    report.excludeNetwork = true;
    return report.getReport() as Report;
  } catch {
    return undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
