/** What the cache keeps: stored responses, their variants, and how heads become octets. */
@NullMarked
package io.kamille.cache.store;

import org.jspecify.annotations.NullMarked;
