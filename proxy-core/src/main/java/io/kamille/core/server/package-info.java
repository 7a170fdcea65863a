/** Where clients arrive: listening sockets and what all connections of a loop share. */
@NullMarked
package io.kamille.core.server;

import org.jspecify.annotations.NullMarked;
