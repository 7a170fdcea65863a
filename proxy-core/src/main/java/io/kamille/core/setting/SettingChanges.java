package io.kamille.core.setting;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Compares the values of two configurations, and keeps what may not change while running. */
public final class SettingChanges {

  private static final String ABSENT = "absent";
  private static final String PRESENT = "present";

  private SettingChanges() {}

  /** Every difference, in the order of the declarations. */
  public static List<SettingChange> between(SectionValues before, SectionValues after) {
    List<SettingChange> changes = new ArrayList<>();
    compare(before, after, false, changes);
    return List.copyOf(changes);
  }

  /** Whether {@code waits}, all changes wait for the next start. */
  private static void compare(
      SectionValues before, SectionValues after, boolean waits, List<SettingChange> changes) {
    for (Member member : after.section().members()) {
      switch (member) {
        case Setting<?> setting -> compareSetting(setting, before, after, waits, changes);
        case Subsection<?> child -> {
          switch (child.shape()) {
            case ONE -> compare(before.one(child), after.one(child), waits, changes);
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
              old == null ? ABSENT : setting.type().print(old),
              now == null ? ABSENT : setting.type().print(now),
              waits || setting.needsRestart()));
    }
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
      compare(old.get(i), now.get(i), waits, changes);
    }
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
        compare(previous, values, needsRestart, changes);
      }
    }
  }

  /**
   * Whether a list differs in nothing that needs a restart: then the sections of both belong
   * together, one by one.
   */
  private static boolean isReloadedOneByOne(
      Subsection<?> child, SectionValues running, SectionValues next) {
    List<SectionValues> old = running.all(child);
    List<SectionValues> now = next.all(child);
    List<SettingChange> changes = new ArrayList<>();
    for (int i = 0; i < now.size() && old.size() == now.size(); i++) {
      compare(old.get(i), now.get(i), false, changes);
    }
    return child.shape() != Subsection.Shape.NAMED
        && old.size() == now.size()
        && changes.stream().noneMatch(SettingChange::needsRestart);
  }

  private static Map<String, SectionValues> byName(List<SectionValues> all) {
    return all.stream().collect(Collectors.toMap(SectionValues::name, Function.identity()));
  }

  /**
   * What holds after a reload: {@code next}, but whatever needs a restart as {@code running} has
   * it. A list stays whole if such a setting inside differs, sections under names if they have one.
   */
  public static SectionValues reloaded(SectionValues running, SectionValues next) {
    var values = SectionValues.of(next.section(), next.position()).warnings(next.warnings());
    fill(values, running, next);
    return values.build();
  }

  private static void fill(
      SectionValues.Builder values, SectionValues running, SectionValues next) {
    for (Member member : next.section().members()) {
      switch (member) {
        case Setting<?> setting -> values.copy(setting, setting.needsRestart() ? running : next);
        case Subsection<?> child when child.shape() == Subsection.Shape.ONE -> {
          SectionValues nextChild = next.one(child);
          var builder = values.child(child, "", nextChild.position());
          fill(builder, running.one(child), nextChild);
          values.add(child, builder.build());
        }
        case Subsection<?> child -> {
          boolean stays =
              child.section().needsRestart() && !isReloadedOneByOne(child, running, next);
          SectionValues source = stays ? running : next;
          source.all(child).forEach(inside -> values.add(child, inside));
        }
      }
    }
  }
}
