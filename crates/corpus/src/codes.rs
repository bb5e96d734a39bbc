//! Codes of the degradations that this layer raises. They are stable: records of old runs hold them.

/// The file cannot be opened or read; it is tried again at every scan.
pub const FILE_UNREADABLE: &str = "file_unreadable";
/// The file is not UTF-8; the detail names the first byte that is not.
pub const FILE_NOT_UTF8: &str = "file_not_utf8";
/// The file is larger than the limit; it was not read.
pub const FILE_TOO_LARGE: &str = "file_too_large";
/// The front matter cannot be understood, so it is not known who may see the file.
pub const FRONT_MATTER_INVALID: &str = "front_matter_invalid";
/// A key of the front matter is nearly a known one; it was passed over. Told where the file is new or changed.
pub const FRONT_MATTER_UNKNOWN_KEY: &str = "front_matter_unknown_key";
/// A folder cannot be listed; what it holds is not known.
pub const FOLDER_UNREADABLE: &str = "folder_unreadable";
/// A line of an ignore file is no pattern; the other lines apply.
pub const IGNORE_RULE_INVALID: &str = "ignore_rule_invalid";
/// A symbolic link leads out of the project root; it was not followed.
pub const LINK_OUTSIDE_ROOT: &str = "link_outside_root";
/// A symbolic link to Markdown was not followed, because following is off or leads to what is never memory.
pub const LINK_NOT_FOLLOWED: &str = "link_not_followed";
/// A symbolic link leads nowhere, or back to a folder above it.
pub const LINK_BROKEN: &str = "link_broken";
/// A name like that of a Markdown file belongs to a pipe, a socket or a device; it was not opened.
pub const NOT_A_FILE: &str = "not_a_file";
/// The file's name is not Unicode, so nothing could refer to it.
pub const PATH_NOT_UTF8: &str = "path_not_utf8";
/// Two names on disk are one name in Unicode NFC; both are kept, the second under an id of its own.
pub const PATH_TWIN: &str = "path_twin";
/// Two resources of one source have the same id; the first by location is kept.
pub const DUPLICATE_ID: &str = "duplicate_id";
/// A resource replaces one that is not there, while files were skipped: it may be one of them.
pub const SUPERSEDES_UNKNOWN: &str = "supersedes_unknown";
/// Two resources replace one and lead to different ends; one of them was chosen.
pub const TWO_SUCCESSORS: &str = "two_successors";
/// A pushed record calls itself a file that instructs the assistant, which is never memory.
pub const RECORD_CONTROL_PLANE: &str = "record_control_plane";
/// The store of pushed records is gone or new, and an earlier scan saw records: they stay until their host pushes again.
pub const RECORDS_LOST: &str = "records_lost";
/// A stored record cannot be read back.
pub const RECORD_UNREADABLE: &str = "record_unreadable";
/// The system tells of no changes: the memory is looked at now and then instead.
pub const WATCH_UNAVAILABLE: &str = "watch_unavailable";
/// The system watches no more folders: the others are looked at now and then instead.
pub const WATCH_LIMITED: &str = "watch_limited";
