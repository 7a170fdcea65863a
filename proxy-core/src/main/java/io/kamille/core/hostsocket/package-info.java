/** Sockets of the host for a Kamille in a network namespace of its own: helper and client. */
@NullMarked
package io.kamille.core.hostsocket;

import org.jspecify.annotations.NullMarked;
