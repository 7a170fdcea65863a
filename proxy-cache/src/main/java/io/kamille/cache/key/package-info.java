/** What a stored response is found by: the cache key of a target URI (RFC 9111 §2). */
@NullMarked
package io.kamille.cache.key;

import org.jspecify.annotations.NullMarked;
