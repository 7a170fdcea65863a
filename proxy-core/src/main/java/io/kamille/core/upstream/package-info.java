/** Sends requests to the origin servers of one upstream: which one, how often, what if it fails. */
@NullMarked
package io.kamille.core.upstream;

import org.jspecify.annotations.NullMarked;
