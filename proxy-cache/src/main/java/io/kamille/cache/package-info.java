/** The shared cache: RFC 9111 as pure functions, and the tiers that hold stored responses. */
@NullMarked
package io.kamille.cache;

import org.jspecify.annotations.NullMarked;
