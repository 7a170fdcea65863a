package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;

/**
 * Request fields by which an operator tells a route's responses apart, besides those that their
 * {@code Vary} names. Immutable; any thread.
 *
 * @param names of request fields; case does not matter
 */
public record VaryBy(List<String> names) {

  /*
   * The names go into Vary itself as the response comes: everything that reads it, the caches of
   * clients among it, tells the responses apart as we do.
   */
  public static final VaryBy NONE = new VaryBy(List.of());

  public VaryBy {
    names = names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
  }

  /** Whether responses can be told apart by that field: it is no address of the client's. */
  public static boolean isPossible(String name) {
    return SelectingFields.canMatch(name.toLowerCase(Locale.ROOT));
  }

  /** Adds to {@code Vary} what it does not name already. */
  public void addTo(Fields response) {
    if (names.isEmpty()) {
      return;
    }
    Set<String> named = SelectingFields.names(response);
    if (named.contains("*")) {
      return;
    }
    StringJoiner missing = new StringJoiner(", ");
    for (String name : names) {
      if (!named.contains(name)) {
        missing.add(name);
      }
    }
    if (missing.length() > 0) {
      response.add(FieldName.VARY, missing.toString());
    }
  }

  /**
   * As {@link #addTo}, for a response that brings a stored one up to date: without {@code Vary} it
   * leaves the stored one's in force (RFC 9111 §3.2).
   */
  public void addToUpdate(Fields response) {
    if (response.has(FieldName.VARY)) {
      addTo(response);
    }
  }
}
