/**
 * HTTP caching (RFC 9111) as pure functions of heads, facts and a point in time; no clock, no I/O.
 */
@NullMarked
package io.kamille.cache.rules;

import org.jspecify.annotations.NullMarked;
