/** Which exchanges are recorded on their way through the stations, and what was recorded lately. */
@NullMarked
package io.kamille.core.trace;

import org.jspecify.annotations.NullMarked;
