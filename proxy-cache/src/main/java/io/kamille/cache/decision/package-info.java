/** What becomes of a request, and why: the cache and its explanations ask the same code. */
@NullMarked
package io.kamille.cache.decision;

import org.jspecify.annotations.NullMarked;
