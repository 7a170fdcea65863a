/** HTTP/2 connections to clients: streams on one side, exchanges on the other (RFC 9113). */
@NullMarked
package io.kamille.core.client.h2;

import org.jspecify.annotations.NullMarked;
