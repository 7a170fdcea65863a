/** The stations between router and upstream: what is stored answers, all else goes on. */
@NullMarked
package io.kamille.cache.station;

import org.jspecify.annotations.NullMarked;
