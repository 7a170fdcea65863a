/** The meeting point of the data plane: one request, its reply, content in motion, and failures. */
@NullMarked
package io.kamille.core.exchange;

import org.jspecify.annotations.NullMarked;
