package io.kamille.core.setting;

import io.kamille.core.setting.ConfigNode.Entry;
import io.kamille.core.setting.ConfigNode.Mapping;
import io.kamille.core.setting.ConfigNode.Scalar;
import io.kamille.core.setting.ConfigNode.Sequence;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads a tree of nodes by its declaration, and collects every mistake on the way. */
public final class ConfigReader {

  /*
   * A mistake never ends the reading: what is wrong is left out, so its default holds, and the
   * caller decides what values with problems are good for. What is wrong is not also called
   * missing, nor is a key that an unknown one was probably meant to be.
   */

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,63}");

  /** Where each key stands first, by its section, the key over it if it is a name, and itself. */
  private final Map<List<Object>, Position> first = new HashMap<>();

  private final Path directory;
  private final Problems problems;

  private ConfigReader(Path directory, Problems problems) {
    this.directory = directory;
    this.problems = problems;
  }

  /** The values of the whole file. They are complete only if no problem was added. */
  public static SectionValues read(ConfigNode root, Section<?> section, Problems problems) {
    return read(root, section, Path.of(""), problems);
  }

  /**
   * The same.
   *
   * @param directory that paths are relative to
   */
  public static SectionValues read(
      ConfigNode root, Section<?> section, Path directory, Problems problems) {
    var values = SectionValues.of(section, root.position());
    new ConfigReader(directory, problems).readSection(root, section, null, values);
    return values.build();
  }

  private void readSection(
      ConfigNode node,
      Section<?> section,
      @Nullable Setting<?> shorthand,
      SectionValues.Builder values) {
    switch (node) {
      case Mapping mapping -> readEntries(mapping, section, values);
      case Scalar scalar when scalar.isNothing() -> checkMissing(Set.of(), section, values);
      case Scalar scalar when shorthand != null -> {
        readSetting(scalar, shorthand, values);
        checkMissing(Set.of(shorthand.key()), section, values);
      }
      default ->
          problems.add(
              Problem.Mistake.WRONG_KIND, node.position(), values.path(), node.kind(), "a section");
    }
  }

  private void readEntries(Mapping mapping, Section<?> section, SectionValues.Builder values) {
    Set<String> meant = new HashSet<>();
    for (Entry entry : mapping.entries()) {
      boolean goesOn =
          values.path().isEmpty()
              && section.member(entry.key()) instanceof Subsection<?> child
              && child.shape() != Subsection.Shape.ONE;
      if (isFirst(entry, "", goesOn, values)) {
        readEntry(entry, section, values);
      }
      meant.add(Objects.requireNonNullElse(meantBy(entry, section), entry.key()));
    }
    checkMissing(meant, section, values);
  }

  /** The known key that an unknown one was probably meant to be, or null. */
  private @Nullable String meantBy(Entry entry, Section<?> section) {
    boolean isAsked = section.member(entry.key()) == null && !problems.isFull();
    return isAsked ? NearestKey.of(entry.key(), section.members()) : null;
  }

  /**
   * Refuses a key that was there before.
   *
   * @param goesOn whether another file may have it, too
   */
  private boolean isFirst(Entry entry, String over, boolean goesOn, SectionValues.Builder values) {
    // Names have dots in them, so that two keys may have one path.
    String path = over.isEmpty() ? values.path() : join(values.path(), over);
    Position before = first.putIfAbsent(List.of(values, over, entry.key()), entry.position());
    boolean isSecond = before != null && (!goesOn || before.file().equals(entry.position().file()));
    if (isSecond) {
      problems.add(
          Problem.Mistake.DUPLICATE_KEY,
          entry.position(),
          join(path, entry.key()),
          "the key a second time",
          "it only once (first in " + before.lineSeenFrom(entry.position()) + ")");
    }
    return !isSecond;
  }

  private void readEntry(Entry entry, Section<?> section, SectionValues.Builder values) {
    switch (section.member(entry.key())) {
      case null -> refuseUnknown(entry, section, values.path());
      case Setting<?> setting -> readSetting(entry.value(), setting, values);
      case Subsection<?> child -> {
        switch (child.shape()) {
          case ONE -> readChild(entry.value(), child, "", values);
          case LIST, SOME -> readList(entry, child, values);
          case NAMED -> readNamed(entry, child, values);
        }
      }
    }
  }

  private void refuseUnknown(Entry entry, Section<?> section, String path) {
    String known = section.members().stream().map(Member::key).collect(Collectors.joining(", "));
    problems.add(
        Problem.Mistake.UNKNOWN_KEY,
        entry.position(),
        join(path, printable(entry.key())),
        "unknown key",
        "one of " + known,
        meantBy(entry, section));
  }

  private <T> void readSetting(ConfigNode node, Setting<T> setting, SectionValues.Builder values) {
    switch (node) {
      case Scalar scalar when !setting.type().isList() ->
          readText(scalar.text(), scalar, setting, values);
      case Sequence list when setting.type().isList() -> readTexts(list, setting, values);
      default -> {
        String path = join(values.path(), setting.key());
        problems.add(
            Problem.Mistake.WRONG_KIND, node.position(), path, node.kind(), valueOf(setting));
      }
    }
  }

  private <T> void readText(
      String text, ConfigNode node, Setting<T> setting, SectionValues.Builder values) {
    T value = setting.type().located().apply(text, directory);
    if (value == null) {
      String path = join(values.path(), setting.key());
      problems.add(
          Problem.Mistake.VALUE, node.position(), path, node.kind(), setting.type().expected());
    } else {
      values.put(setting, value, node.position());
    }
  }

  /** Refuses each item that is no value where it stands; what is left is read as one text. */
  private <T> void readTexts(Sequence list, Setting<T> setting, SectionValues.Builder values) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < list.items().size(); i++) {
      ConfigNode item = list.items().get(i);
      String path = join(values.path(), setting.key()) + "[" + i + "]";
      if (!(item instanceof Scalar scalar) || scalar.text().isEmpty() || scalar.isNothing()) {
        problems.add(Problem.Mistake.WRONG_KIND, item.position(), path, item.kind(), "a value");
      } else if (setting.type().parse(scalar.text()) == null) {
        String expected = setting.type().expected();
        problems.add(Problem.Mistake.VALUE, item.position(), path, item.kind(), expected);
      } else {
        texts.add(scalar.text());
      }
    }
    readText(String.join(", ", texts), list, setting, values);
  }

  private void readChild(
      ConfigNode node, Subsection<?> child, String name, SectionValues.Builder values) {
    var builder = values.child(child, name, node.position());
    readSection(node, child.section(), child.shorthand(), builder);
    values.add(child, builder.build());
  }

  private void readList(Entry entry, Subsection<?> child, SectionValues.Builder values) {
    switch (entry.value()) {
      case Sequence list -> {
        list.items().forEach(item -> readChild(item, child, "", values));
        checkNotEmpty(list.items().isEmpty(), entry, child, values);
      }
      case Scalar scalar when scalar.isNothing() -> checkNotEmpty(true, entry, child, values);
      case Mapping one when child.shape() == Subsection.Shape.SOME ->
          readChild(one, child, "", values);
      default -> refuseValue(entry, "a list", values);
    }
  }

  private void readNamed(Entry entry, Subsection<?> child, SectionValues.Builder values) {
    switch (entry.value()) {
      case Mapping names -> {
        for (Entry named : names.entries()) {
          String path = join(values.path(), child.key());
          if (!NAME.matcher(named.key()).matches()) {
            problems.add(
                Problem.Mistake.VALUE,
                named.position(),
                path,
                Problems.quote(named.key()),
                "a name of up to 64 letters, digits and ._-");
          } else if (isFirst(named, child.key(), false, values)) {
            readChild(named.value(), child, named.key(), values);
          }
        }
        checkNotEmpty(names.entries().isEmpty(), entry, child, values);
      }
      case Scalar scalar when scalar.isNothing() -> checkNotEmpty(true, entry, child, values);
      default -> refuseValue(entry, "sections under names", values);
    }
  }

  private void refuseValue(Entry entry, String expected, SectionValues.Builder values) {
    ConfigNode value = entry.value();
    String path = join(values.path(), entry.key());
    problems.add(Problem.Mistake.WRONG_KIND, value.position(), path, value.kind(), expected);
  }

  private void checkNotEmpty(
      boolean isEmpty, Entry entry, Subsection<?> child, SectionValues.Builder values) {
    String required = child.required();
    if (isEmpty && required != null) {
      String path = join(values.path(), child.key());
      problems.add(Problem.Mistake.MISSING, entry.position(), path, "nothing", required);
    }
  }

  private void checkMissing(Set<String> meant, Section<?> section, SectionValues.Builder values) {
    for (Member member : section.members()) {
      String required =
          switch (member) {
            case Setting<?> setting -> setting.isRequired() ? valueOf(setting) : null;
            case Subsection<?> child ->
                child.alternatives().stream().noneMatch(meant::contains) ? child.required() : null;
          };
      if (required != null && !meant.contains(member.key())) {
        String path = join(values.path(), member.key());
        problems.add(Problem.Mistake.MISSING, values.position(), path, "nothing", required);
      }
    }
  }

  private static String valueOf(Setting<?> setting) {
    String type = setting.type().name();
    return setting.type().isList() ? "a " + type : "a value (" + type + ")";
  }

  private static String join(String path, String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private static String printable(String key) {
    String quoted = Problems.quote(key);
    return quoted.substring(1, quoted.length() - 1);
  }
}
