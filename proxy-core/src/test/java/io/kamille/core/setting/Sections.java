package io.kamille.core.setting;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Settings records for tests, which name the components they care about and no others. */
public final class Sections {

  private Sections() {}

  /**
   * The record that a text of YAML makes, as a part of the file would. What it does not give has
   * its default.
   *
   * @param yaml a format for {@code values}
   */
  @FormatMethod
  public static <R> R of(
      Section<R> section, @FormatString String yaml, @Nullable Object... values) {
    byte[] content = String.format(Locale.ROOT, yaml, values).getBytes(StandardCharsets.UTF_8);
    var problems = new Problems("yaml");
    ConfigNode root = ConfigTree.parse(content, problems);
    SectionValues read = root == null ? null : ConfigReader.read(root, section, problems);
    if (read != null) {
      read.check(problems);
    }
    List<Problem> all = problems.inOrder();
    if (read == null || !all.isEmpty()) {
      throw new IllegalArgumentException(all.toString());
    }
    return section.record(read);
  }

  /** A record that may have components which no file sets. */
  public static <R extends Record> Copy<R> copy(R record) {
    return new Copy<>(record);
  }

  /** A copy of a record, whose components change one by one. */
  public record Copy<R extends Record>(R record) {

    /**
     * The same with another value of a component.
     *
     * @param path its name, such as {@code retries}, or {@code pool.maxIdle} in a record inside
     */
    public Copy<R> with(String path, @Nullable Object value) {
      int dot = path.indexOf('.');
      String name = dot < 0 ? path : path.substring(0, dot);
      @Nullable Object before = component(name);
      @Nullable Object changed =
          dot < 0
              ? value
              : copy((Record) Objects.requireNonNull(before))
                  .with(path.substring(dot + 1), value)
                  .record();
      RecordComponent[] components = record.getClass().getRecordComponents();
      @Nullable Object[] arguments =
          Stream.of(components)
              .map(each -> each.getName().equals(name) ? changed : component(each.getName()))
              .toArray();
      Class<?>[] types =
          Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      try {
        @SuppressWarnings("unchecked") // the class of a record is that of its copy
        Constructor<R> canonical = (Constructor<R>) record.getClass().getDeclaredConstructor(types);
        canonical.setAccessible(true);
        return new Copy<>(canonical.newInstance(arguments));
      } catch (ReflectiveOperationException refused) {
        throw new IllegalArgumentException(refused);
      }
    }

    private @Nullable Object component(String name) {
      try {
        var accessor = record.getClass().getDeclaredMethod(name);
        accessor.setAccessible(true);
        return accessor.invoke(record);
      } catch (ReflectiveOperationException none) {
        throw new IllegalArgumentException(name, none);
      }
    }
  }
}
