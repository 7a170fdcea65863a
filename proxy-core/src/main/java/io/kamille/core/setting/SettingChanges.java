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
    compare(before, after, changes);
    return List.copyOf(changes);
  }

  private static void compare(
      SectionValues before, SectionValues after, List<SettingChange> changes) {
    for (Member member : after.section().members()) {
      switch (member) {
        case Setting<?> setting -> compareSetting(setting, before, after, changes);
        case Section child -> {
          switch (child.shape()) {
            case ONE -> compare(before.one(child), after.one(child), changes);
            case LIST -> compareList(child, before, after, changes);
            case NAMED -> compareNamed(child, before, after, changes);
          }
        }
      }
    }
  }

  private static <T> void compareSetting(
      Setting<T> setting, SectionValues before, SectionValues after, List<SettingChange> changes) {
    T old = before.find(setting);
    T now = after.find(setting);
    if (!Objects.equals(old, now)) {
      changes.add(
          new SettingChange(
              after.path(setting),
              old == null ? ABSENT : setting.type().print(old),
              now == null ? ABSENT : setting.type().print(now),
              setting.needsRestart()));
    }
  }

  private static void compareList(
      Section child, SectionValues before, SectionValues after, List<SettingChange> changes) {
    List<SectionValues> old = before.all(child);
    List<SectionValues> now = after.all(child);
    if (old.size() != now.size()) {
      String path = after.path(child);
      changes.add(
          new SettingChange(
              path, "a list of " + old.size(), "a list of " + now.size(), child.needsRestart()));
      return;
    }
    for (int i = 0; i < now.size(); i++) {
      compare(old.get(i), now.get(i), changes);
    }
  }

  private static void compareNamed(
      Section child, SectionValues before, SectionValues after, List<SettingChange> changes) {
    Map<String, SectionValues> old = byName(before.all(child));
    Map<String, SectionValues> now = byName(after.all(child));
    boolean needsRestart = child.needsRestart();
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
        compare(previous, values, changes);
      }
    }
  }

  private static Map<String, SectionValues> byName(List<SectionValues> all) {
    return all.stream().collect(Collectors.toMap(SectionValues::name, Function.identity()));
  }

  /**
   * What holds after a reload: {@code next}, but whatever needs a restart as {@code running} has
   * it. A list, or sections under names, with such a setting inside stay whole.
   */
  public static SectionValues reloaded(SectionValues running, SectionValues next) {
    var values = SectionValues.of(next.section(), next.position());
    fill(values, running, next);
    return values.build();
  }

  private static void fill(
      SectionValues.Builder values, SectionValues running, SectionValues next) {
    for (Member member : next.section().members()) {
      switch (member) {
        case Setting<?> setting -> values.copy(setting, setting.needsRestart() ? running : next);
        case Section child when child.shape() == Section.Shape.ONE -> {
          SectionValues nextChild = next.one(child);
          var builder = values.child(child, "", nextChild.position());
          fill(builder, running.one(child), nextChild);
          values.add(builder.build());
        }
        case Section child -> {
          SectionValues source = child.needsRestart() ? running : next;
          source.all(child).forEach(values::add);
        }
      }
    }
  }
}
