/** Who uses the API: tokens and their scopes, sessions of browsers, and the audit log. */
@NullMarked
package io.kamille.admin.auth;

import org.jspecify.annotations.NullMarked;
