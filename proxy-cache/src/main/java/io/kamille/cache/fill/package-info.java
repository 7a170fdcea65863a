/**
 * One fetch from an origin, to the client and into the store, and the requests that wait for it.
 */
@NullMarked
package io.kamille.cache.fill;

import org.jspecify.annotations.NullMarked;
