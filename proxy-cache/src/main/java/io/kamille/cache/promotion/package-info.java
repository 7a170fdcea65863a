/** Stored responses that come back into memory from a disk, and the requests that wait for them. */
@NullMarked
package io.kamille.cache.promotion;

import org.jspecify.annotations.NullMarked;
