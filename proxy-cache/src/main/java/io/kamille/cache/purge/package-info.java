/** What was purged and when, as numbers that stored responses are compared with. */
@NullMarked
package io.kamille.cache.purge;

import org.jspecify.annotations.NullMarked;
