/** Where clients arrive: listening sockets, and what a connection opens with before HTTP. */
@NullMarked
package io.kamille.core.client.open;

import org.jspecify.annotations.NullMarked;
