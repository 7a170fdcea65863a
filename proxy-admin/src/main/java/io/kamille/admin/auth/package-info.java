/** Who may use the API: a bearer token that lies in a file only its owner can read. */
@NullMarked
package io.kamille.admin.auth;

import org.jspecify.annotations.NullMarked;
