/**
 * Programs that answer and programs that ask: the floor, the origin, wrk, idle connections and the
 * open-loop client.
 */
@NullMarked
package io.kamille.perf.load;

import org.jspecify.annotations.NullMarked;
