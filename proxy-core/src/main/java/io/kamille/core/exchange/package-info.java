/** The meeting point of the data plane: one request, one reply, and who handles them. */
@NullMarked
package io.kamille.core.exchange;

import org.jspecify.annotations.NullMarked;
