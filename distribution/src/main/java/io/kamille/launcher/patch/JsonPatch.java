package io.kamille.launcher.patch;

import java.io.Serial;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** JSON patches (RFC 6902) of YAML texts. Stateless; any thread. */
public final class JsonPatch {

  /*
   * Values are texts, lists and maps, as in the file: 5 and "5" are the same setting. Operations
   * change a copy of the values, one after the other; the text is edited once, toward the last one.
   * Each copy of a whole can double it, so what can be reached that way has a limit.
   */
  private static final int MOST_NODES = 100_000;
  private static final int MOST_OPERATIONS = 1000;
  private static final Set<String> OPERATIONS =
      Set.of("add", "remove", "replace", "move", "copy", "test");

  private JsonPatch() {}

  /** An operation that cannot be done; nothing was. The message is a sentence. */
  public static final class Failed extends Exception {

    @Serial private static final long serialVersionUID = 1;

    private Failed(int index, String why) {
      super("Operation " + index + ": " + why, null, false, false);
    }
  }

  /**
   * The text with the values that the patch asks for. All lines stay that have no part in the
   * change, comments too.
   *
   * @param text a valid configuration
   * @throws Failed if the patch is none, or does not fit
   */
  public static String apply(String text, JsonNode patch) throws Failed {
    if (!patch.isArray() || patch.size() > MOST_OPERATIONS) {
      throw new Failed(0, "a patch is an array of at most " + MOST_OPERATIONS + " operations.");
    }
    MarkedNode root = MarkedText.parse(text);
    Object document = copy(root == null ? null : root.value());
    for (int i = 0; i < patch.size(); i++) {
      document = done(document, patch.get(i), i);
    }
    return document instanceof Map
        ? YamlEdit.toward(text, document)
        : YamlWriter.flow(document) + "\n";
  }

  /** RFC 6902 §4. */
  private static @Nullable Object done(@Nullable Object document, JsonNode operation, int index)
      throws Failed {
    String op = operation.path("op").stringValue("");
    if (!OPERATIONS.contains(op)) {
      throw new Failed(index, "op must be add, remove, replace, move, copy or test.");
    }
    Place place = new Place(pointer(operation, "path", index), index);
    return switch (op) {
      case "add" -> place.with(document, value(operation, index), true);
      case "replace" -> {
        place.of(document);
        yield place.with(document, value(operation, index), false);
      }
      case "remove" -> place.without(document);
      case "test" -> {
        if (!Objects.equals(place.of(document), value(operation, index))) {
          throw new Failed(index, "there is another value at " + place + ".");
        }
        yield document;
      }
      default -> {
        Place from = new Place(pointer(operation, "from", index), index);
        Object moved = copy(from.of(document));
        if (op.equals("copy")) {
          if (nodes(document) + nodes(moved) > MOST_NODES) {
            throw new Failed(index, "the configuration would have too many values.");
          }
          yield place.with(document, moved, true);
        }
        if (place.isWithin(from)) {
          throw new Failed(index, from + " cannot move into itself.");
        }
        yield place.with(from.without(document), moved, true);
      }
    };
  }

  private static @Nullable Object value(JsonNode operation, int index) throws Failed {
    if (!operation.has("value")) {
      throw new Failed(index, "value is missing.");
    }
    return MergePatch.value(operation.get("value"));
  }

  /** RFC 6901 §4. */
  private static List<String> pointer(JsonNode operation, String name, int index) throws Failed {
    JsonNode pointer = operation.path(name);
    String text = pointer.stringValue("");
    if (!pointer.isString()
        || !(text.isEmpty() || text.startsWith("/"))
        || text.matches(".*~(?![01]).*")) {
      throw new Failed(index, name + " must be a JSON pointer.");
    }
    List<String> names = new ArrayList<>();
    if (!text.isEmpty()) {
      for (String part : text.substring(1).split("/", -1)) {
        names.add(part.replace("~1", "/").replace("~0", "~"));
      }
    }
    return names;
  }

  private static long nodes(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> map -> 1 + map.values().stream().mapToLong(JsonPatch::nodes).sum();
      case List<?> list -> 1 + list.stream().mapToLong(JsonPatch::nodes).sum();
      case null, default -> 1;
    };
  }

  private static @Nullable Object copy(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
      map.forEach((name, member) -> copy.put(Objects.requireNonNull(name), copy(member)));
      return copy;
    }
    if (value instanceof List<?> list) {
      List<@Nullable Object> copy = new ArrayList<>();
      list.forEach(item -> copy.add(copy(item)));
      return copy;
    }
    return value;
  }

  /** Where an operation applies. It changes the document that it is given, which must be a copy. */
  private record Place(List<String> names, int index) {

    @Nullable Object of(@Nullable Object document) throws Failed {
      Object at = document;
      for (int i = 0; i < names.size(); i++) {
        at = member(at, i);
      }
      return at;
    }

    private @Nullable Object member(@Nullable Object parent, int depth) throws Failed {
      String name = names.get(depth);
      if (parent instanceof Map<?, ?> map && map.containsKey(name)) {
        return map.get(name);
      }
      if (parent instanceof List<?> list) {
        return list.get(position(name, list.size() - 1));
      }
      throw nothing();
    }

    private int position(String name, int last) throws Failed {
      if (!name.matches("0|[1-9][0-9]{0,5}") || Integer.parseInt(name) > last) {
        throw nothing();
      }
      return Integer.parseInt(name);
    }

    private Failed nothing() {
      return new Failed(index, "there is nothing at " + this + ".");
    }

    /** The document with a value there; in a list it is put in, or replaces what is there. */
    @SuppressWarnings("unchecked") // copies have such lists and maps alone
    @Nullable Object with(@Nullable Object document, @Nullable Object value, boolean isAdded)
        throws Failed {
      if (names.isEmpty()) {
        return value;
      }
      String last = names.getLast();
      switch (parent().of(document)) {
        case Map<?, ?> map -> ((Map<Object, @Nullable Object>) map).put(last, value);
        case List<?> list when isAdded ->
            ((List<@Nullable Object>) list)
                .add(last.equals("-") ? list.size() : position(last, list.size()), value);
        case List<?> list ->
            ((List<@Nullable Object>) list).set(position(last, list.size() - 1), value);
        case null, default -> throw nothing();
      }
      return document;
    }

    @Nullable Object without(@Nullable Object document) throws Failed {
      of(document);
      if (names.isEmpty()) {
        return null;
      }
      switch (parent().of(document)) {
        case Map<?, ?> map -> map.remove(names.getLast());
        case List<?> list -> list.remove(position(names.getLast(), list.size() - 1));
        case null, default -> throw nothing();
      }
      return document;
    }

    private Place parent() {
      return new Place(names.subList(0, names.size() - 1), index);
    }

    boolean isWithin(Place other) {
      return names.size() > other.names.size()
          && names.subList(0, other.names.size()).equals(other.names);
    }

    @Override
    public String toString() {
      StringBuilder pointer = new StringBuilder();
      names.forEach(name -> pointer.append('/').append(name.replace("~", "~0").replace("/", "~1")));
      return pointer.isEmpty() ? "the root" : pointer.toString();
    }
  }
}
