/** What we ask of the kernel about sockets and about the threads that serve them. */
@NullMarked
package io.kamille.core.socket;

import org.jspecify.annotations.NullMarked;
