/** Programs that answer and programs that ask: the floor, the origin, wrk and idle connections. */
@NullMarked
package io.kamille.perf.load;

import org.jspecify.annotations.NullMarked;
