//! The files of a Location. Nothing outside of it is ever shown.

use opencode_schema::file_system::FileSystemEntry;

use crate::input::{FilesFindQuery, FilesListQuery, FilesReadParams, LocationSelection};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// The bytes of a file, which may have 64 MiB.
    ///
    /// The content type is that of text where the name says so, else `application/octet-stream`.
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

    /// Files and directories whose path resembles a text, the closest first: those of that name, names that
    /// begin with it, names and paths that contain it, then those with its characters in their order. Shorter
    /// paths come first among equals. Ignored files are not found, hidden ones are.
    FsFind = "v2.fs.find" => "files.find" {
        Get "/api/fs/find",
        query: FilesFindQuery,
        success: whole(Located<Vec<FileSystemEntry>>),
        errors: [],
        middleware: [Authorization, Location],
    }
}
