/**
 * The disk tier: stored responses as records in append-only segment files, with their index in
 * memory. Drawn and explained in {@code docs/storage.md}. It is not part of the request path yet.
 */
@NullMarked
package io.kamille.cache.disk;

import org.jspecify.annotations.NullMarked;
