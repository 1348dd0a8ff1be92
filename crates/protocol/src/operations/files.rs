//! The files of a Location. Files outside of it are never shown.

use opencode_schema::file_system::FileSystemEntry;

use crate::input::{FilesFindQuery, FilesListQuery, FilesReadParams, LocationSelection};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Returns the bytes of a file of at most 64 MiB.
    ///
    /// The content type follows from the extension: text for known extensions, else `application/octet-stream`.
    FsRead = "v2.fs.read" => "files.read" {
        Get "/api/fs/read/{*path}",
        params: FilesReadParams,
        query: LocationSelection,
        success: bytes,
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the content of a directory, directories first, without symbolic links.
    FsList = "v2.fs.list" => "files.list" {
        Get "/api/fs/list",
        query: FilesListQuery,
        success: whole(Located<Vec<FileSystemEntry>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Finds files and directories with a path that resembles a text, the closest first: equal names, names that begin
    /// with it, names and paths that contain it, then paths with its characters in their order. Shorter paths precede
    /// longer ones of the same rank. Ignored files are omitted, hidden files are included.
    FsFind = "v2.fs.find" => "files.find" {
        Get "/api/fs/find",
        query: FilesFindQuery,
        success: whole(Located<Vec<FileSystemEntry>>),
        errors: [],
        middleware: [Authorization, Location],
    }
}
