//! Smaller answers over the network, for clients that accept them.

use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

/// Minimum size in bytes of a body that is compressed. Smaller bodies would not shrink.
const LEAST: u16 = 1024;

/// Compresses with gzip, or with deflate for clients that do not accept gzip. Events are never compressed, because
/// each must arrive when it happens.
pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, NotForContentType>> {
    let worth_it = SizeAbove::new(LEAST).and(NotForContentType::SSE);
    CompressionLayer::new()
        .no_br()
        .no_zstd()
        .compress_when(worth_it)
}
