package io.kamille.core.http;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A Dictionary Structured Field (RFC 9651 §3.2). Immutable; any thread.
 *
 * <p>Parameters are checked and forgotten, and so are the contents of inner lists: nothing that we
 * read has any.
 */
public final class StructuredDictionary {

  private final Map<String, StructuredValue> members;

  StructuredDictionary(Map<String, StructuredValue> members) {
    this.members = members;
  }

  /**
   * The dictionary that the lines of one field make up, or null if they are none: then the whole
   * field is to be ignored (§4.2). No line and an empty value are an empty dictionary.
   */
  public static @Nullable StructuredDictionary parse(List<String> lines) {
    return new StructuredFieldParser(String.join(", ", lines)).dictionary();
  }

  public boolean isEmpty() {
    return members.isEmpty();
  }

  /** The keys, in the order of their first appearance. */
  public Set<String> keys() {
    return members.keySet();
  }

  /** The value of a member; the last one if it was given twice. */
  public @Nullable StructuredValue value(String key) {
    return members.get(key);
  }
}
