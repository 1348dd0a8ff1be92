//! Media types by file extension, only for common source, text and binary files.

use std::path::Path;

/// Returns the media type of a file based only on its name.
pub fn mime_of(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "txt" | "text" | "log" | "ini" | "conf" | "cfg" | "env" => "text/plain",
        "md" | "markdown" => "text/markdown",
        "mdx" => "text/mdx",
        "rst" => "text/x-rst",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "scss" => "text/x-scss",
        "sass" => "text/x-sass",
        "less" => "text/less",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "xml" => "text/xml",
        "yaml" | "yml" => "text/yaml",
        "js" | "mjs" => "text/javascript",
        "cjs" => "application/node",
        "jsx" => "text/jsx",
        // The registered type of this extension is a video stream, and clients expect this result.
        "ts" | "mts" => "video/mp2t",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" => "text/x-c",
        "java" => "text/x-java-source",
        "py" => "text/x-python",
        "rs" => "text/x-rust",
        "go" => "text/x-go",
        "rb" => "text/x-ruby",
        "lua" => "text/x-lua",
        "json" | "map" => "application/json",
        "json5" => "application/json5",
        "jsonl" => "application/jsonl",
        "toml" => "application/toml",
        "sql" => "application/sql",
        "sh" => "application/x-sh",
        "php" => "application/x-httpd-php",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "tar" => "application/x-tar",
        "gz" => "application/gzip",
        "7z" => "application/x-7z-compressed",
        "jar" | "war" => "application/java-archive",
        "class" => "application/java-vm",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt" => "application/vnd.ms-powerpoint",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt" => "application/vnd.oasis.opendocument.text",
        "ods" => "application/vnd.oasis.opendocument.spreadsheet",
        "odp" => "application/vnd.oasis.opendocument.presentation",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "ico" => "image/vnd.microsoft.icon",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_decides_in_any_case() {
        for (path, expected) in [
            ("/a/hello.txt", "text/plain"),
            ("/a/README.MD", "text/markdown"),
            ("/a/main.ts", "video/mp2t"),
            ("/a/b.tar.gz", "application/gzip"),
            ("/a/Makefile", "application/octet-stream"),
            ("/a.txt/Makefile", "application/octet-stream"),
            ("/a/.env", "application/octet-stream"),
            ("/a/x.unheard-of", "application/octet-stream"),
        ] {
            assert_eq!(mime_of(Path::new(path)), expected, "{path}");
        }
    }
}
