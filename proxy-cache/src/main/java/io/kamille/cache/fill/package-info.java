/** Brings responses from the origin: to the client, into the store, or both at once. */
@NullMarked
package io.kamille.cache.fill;

import org.jspecify.annotations.NullMarked;
