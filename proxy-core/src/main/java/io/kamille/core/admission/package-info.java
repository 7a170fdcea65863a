/** Who may come in, and how many at a time: addresses, limits for each client. */
@NullMarked
package io.kamille.core.admission;

import org.jspecify.annotations.NullMarked;
