package io.kamille.core.setting;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Compares the values of two configurations, and keeps what may not change while running. */
public final class SettingChanges {

  private static final String ABSENT = "absent";
  private static final String PRESENT = "present";

  private SettingChanges() {}

  /** Every difference, in the order of the declarations. */
  public static List<SettingChange> between(SectionValues before, SectionValues after) {
    List<SettingChange> changes = new ArrayList<>();
    compare(before, after, false, false, changes);
    return List.copyOf(changes);
  }

  /**
   * Adds each difference.
   *
   * @param waits whether all changes wait for the next start
   * @param isElement whether it is one of a list, whose sections stay or change as a whole
   */
  private static void compare(
      SectionValues before,
      SectionValues after,
      boolean waits,
      boolean isElement,
      List<SettingChange> changes) {
    for (Member member : after.section().members()) {
      switch (member) {
        case Setting<?> setting -> compareSetting(setting, before, after, waits, changes);
        case Subsection<?> child -> {
          switch (child.shape()) {
            case ONE -> {
              SectionValues old = before.one(child);
              SectionValues now = after.one(child);
              compare(old, now, waits || (isElement && waits(old, now)), false, changes);
            }
            case LIST, SOME -> compareList(child, before, after, changes);
            case NAMED -> compareNamed(child, before, after, changes);
          }
        }
      }
    }
  }

  private static <T> void compareSetting(
      Setting<T> setting,
      SectionValues before,
      SectionValues after,
      boolean waits,
      List<SettingChange> changes) {
    T old = before.find(setting);
    T now = after.find(setting);
    if (!Objects.equals(old, now)) {
      changes.add(
          new SettingChange(
              after.path(setting),
              shown(setting, old, after.name()),
              shown(setting, now, after.name()),
              waits || setting.needsRestart()));
    }
  }

  private static <T> String shown(Setting<T> setting, @Nullable T value, String name) {
    if (value == null) {
      return ABSENT;
    }
    boolean isHidden = value instanceof SecretText text && text.isSecretOf(name);
    return isHidden ? "a secret" : setting.type().print(value);
  }

  private static void compareList(
      Subsection<?> child, SectionValues before, SectionValues after, List<SettingChange> changes) {
    List<SectionValues> old = before.all(child);
    List<SectionValues> now = after.all(child);
    if (old.size() != now.size()) {
      String path = after.path(child);
      changes.add(
          new SettingChange(
              path,
              "a list of " + old.size(),
              "a list of " + now.size(),
              child.section().needsRestart()));
      return;
    }
    boolean waits = child.section().needsRestart() && !isReloadedOneByOne(child, before, after);
    for (int i = 0; i < now.size(); i++) {
      compare(old.get(i), now.get(i), waits, true, changes);
    }
  }

  private static boolean waits(SectionValues before, SectionValues after) {
    return between(before, after).stream().anyMatch(SettingChange::needsRestart);
  }

  private static void compareNamed(
      Subsection<?> child, SectionValues before, SectionValues after, List<SettingChange> changes) {
    Map<String, SectionValues> old = byName(before.all(child));
    Map<String, SectionValues> now = byName(after.all(child));
    boolean needsRestart = child.section().needsRestart();
    old.forEach(
        (name, values) -> {
          if (!now.containsKey(name)) {
            changes.add(new SettingChange(values.path(), PRESENT, ABSENT, needsRestart));
          }
        });
    for (SectionValues values : after.all(child)) {
      SectionValues previous = old.get(values.name());
      if (previous == null) {
        changes.add(new SettingChange(values.path(), ABSENT, PRESENT, needsRestart));
      } else {
        compare(previous, values, needsRestart, false, changes);
      }
    }
  }

  /**
   * Whether the sections of two lists belong together, one by one: those that a bare value would
   * stand for do, such as the addresses of listeners.
   */
  private static boolean isReloadedOneByOne(
      Subsection<?> child, SectionValues running, SectionValues next) {
    List<SectionValues> old = running.all(child);
    List<SectionValues> now = next.all(child);
    Setting<?> bare = child.shorthand();
    return child.shape() != Subsection.Shape.NAMED
        && bare != null
        && old.size() == now.size()
        && IntStream.range(0, now.size())
            .allMatch(i -> Objects.equals(old.get(i).find(bare), now.get(i).find(bare)));
  }

  private static Map<String, SectionValues> byName(List<SectionValues> all) {
    return all.stream().collect(Collectors.toMap(SectionValues::name, Function.identity()));
  }

  /**
   * What holds after a reload: {@code next}, but whatever needs a restart as {@code running} has
   * it. A list stays whole if its sections do not belong together, a section in one of them if such
   * a setting inside differs, sections under names if they have one.
   */
  public static SectionValues reloaded(SectionValues running, SectionValues next) {
    var values = SectionValues.of(next.section(), next.position());
    fill(values, running, next, false);
    return values.build();
  }

  private static void fill(
      SectionValues.Builder values, SectionValues running, SectionValues next, boolean isElement) {
    for (Member member : next.section().members()) {
      switch (member) {
        case Setting<?> setting -> values.copy(setting, setting.needsRestart() ? running : next);
        case Subsection<?> child when child.shape() == Subsection.Shape.ONE -> {
          SectionValues old = running.one(child);
          SectionValues now = next.one(child);
          var builder = values.child(child, "", now.position());
          fill(builder, old, isElement && waits(old, now) ? old : now, false);
          values.add(child, builder.build());
        }
        case Subsection<?> child -> {
          List<SectionValues> old = running.all(child);
          List<SectionValues> now = next.all(child);
          boolean isMixed =
              child.section().needsRestart() && isReloadedOneByOne(child, running, next);
          for (int i = 0; isMixed && i < now.size(); i++) {
            var builder = values.child(child, now.get(i).name(), now.get(i).position());
            fill(builder, old.get(i), now.get(i), true);
            values.add(child, builder.build());
          }
          if (!isMixed) {
            (child.section().needsRestart() ? old : now).forEach(one -> values.add(child, one));
          }
        }
      }
    }
    SectionValues filled = values.build();
    for (Member member : next.section().members()) {
      if (member instanceof Setting<?> setting && setting.needsRestart()) {
        keep(setting, values, running, filled);
      }
    }
  }

  /** A default that follows from other values of its section stays, though those may change. */
  private static <T> void keep(
      Setting<T> setting,
      SectionValues.Builder values,
      SectionValues running,
      SectionValues filled) {
    T old = running.find(setting);
    if (old != null && !old.equals(filled.find(setting))) {
      values.put(setting, old);
    }
  }
}
