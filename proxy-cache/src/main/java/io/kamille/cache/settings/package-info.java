/** What an operator may set about the cache. */
@NullMarked
package io.kamille.cache.settings;

import org.jspecify.annotations.NullMarked;
