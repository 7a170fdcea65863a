/** What Kamille writes down: one line per exchange, and what operators should know of itself. */
@NullMarked
package io.kamille.core.log;

import org.jspecify.annotations.NullMarked;
