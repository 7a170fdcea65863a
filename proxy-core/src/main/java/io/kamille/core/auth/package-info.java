/** Who may use a route: passwords, an auth server, signed tokens. */
@NullMarked
package io.kamille.core.auth;

import org.jspecify.annotations.NullMarked;
