/**
 * The data plane: it accepts, parses, routes and forwards exchanges, and does not know the cache.
 */
@NullMarked
package io.kamille.core;

import org.jspecify.annotations.NullMarked;
