package io.kamille.admin.auth;

import java.util.Locale;

/**
 * What somebody may do through the API: a token has a scope, and each operation names the one that
 * it needs. The table of operations compares them before it answers.
 */
public enum Scope {
  /** See everything but secrets. */
  READ,
  /** Purge, and change what the running process does until it ends. */
  OPERATE,
  /** Change the configuration and say who may do what. */
  ADMIN,
  /** Purge and nothing else: for deployment scripts. */
  PURGE;

  /** Whether who has this scope may do what needs {@code needed}. */
  public boolean allows(Scope needed) {
    return switch (needed) {
      case READ -> this != PURGE;
      case OPERATE -> this == OPERATE || this == ADMIN;
      case ADMIN -> this == ADMIN;
      case PURGE -> this != READ;
    };
  }

  /** As the API and the command line write it. */
  public String token() {
    return name().toLowerCase(Locale.ROOT);
  }
}
