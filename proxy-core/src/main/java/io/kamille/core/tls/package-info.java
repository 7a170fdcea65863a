/** TLS for both sides: certificates, the contexts made of them, session tickets (RFC 8446). */
@NullMarked
package io.kamille.core.tls;

import org.jspecify.annotations.NullMarked;
