/** Which requests go on: access lists, rates, limits for each client, overload. */
@NullMarked
package io.kamille.core.gate;

import org.jspecify.annotations.NullMarked;
