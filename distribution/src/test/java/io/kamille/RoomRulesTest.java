package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each class of the product can be found by its name, and read alone. */
class RoomRulesTest {

  /** Classes of one package that know each other, and why they may. */
  private static final Map<String, String> CIRCLES =
      Map.ofEntries(
          Map.entry(
              "Appliance ControlPlane HandoverValues Succession",
              "an appliance opens the views that others have of it"),
          Map.entry(
              "ConsistentHash OriginChoice PowerOfTwoChoices WeightedRoundRobin",
              "an interface opens what it names"),
          Map.entry(
              "Member Problems Row Section SectionValues Setting Subsection",
              "a section is made of settings and sections, and checks its own values"),
          Map.entry(
              "ContentWindow FillPieces Follower FollowerGroup InFlight InFlightTable SharedChunk",
              "news goes from a leader to its followers, and word of their leaving back"),
          Map.entry(
              "H1ClientConnection H1Exchange H1Shard",
              "an exchange goes by its connection's state"),
          Map.entry("H2OriginConnection H2OriginStream", "a stream goes by its connection's state"),
          Map.entry(
              "SendBufferAdvisor TcpSampler TcpSamples TunableChannel UnmarkedRegions"
                  + " WaitingOctets",
              "a sampler gives rows to its advisor, and gets them back"),
          Map.entry("H2ClientConnection H2Exchange", "an exchange goes by its connection's state"),
          Map.entry("CacheKey CacheKeyProbe", "a probe is a key that is used again"),
          Map.entry(
              "Arena ArenaWriter Blocks LeasedRegion LeasedSlice Renewal Shards StoredBytes",
              "what lies in the arena gives itself back to it"),
          Map.entry(
              "CacheControl CacheControlParser TargetedCacheControl", "a value parses itself"),
          Map.entry(
              "CachePolicy Freshness StaleLimits", "a lifetime asks the policy it is a part of"),
          Map.entry(
              "CodedForms SeveralVariants StoredResponse Variants",
              "a response is its own list of one, and has its coded forms"),
          Map.entry(
              "Passage RouteFacts Station", "a station judges what passes the stations of a route"),
          Map.entry("TunedConnection TuningSentence", "a connection says its figures in words"));

  private static final String ROOT = "io.kamille.";

  private static final List<JavaClass> CLASSES =
      new ClassFileImporter()
              .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
              .withImportOption(location -> !location.contains("-tests.jar"))
              .importPackages("io.kamille")
              .stream()
              .filter(type -> !type.getName().startsWith("io.kamille.perf."))
              .toList();

  @Test
  void noSimpleNameIsUsedTwice() {
    Map<String, Set<String>> packages = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      if (isTopLevel(type)) {
        packages
            .computeIfAbsent(type.getSimpleName(), name -> new TreeSet<>())
            .add(type.getPackageName());
      }
    }
    packages.values().removeIf(homes -> homes.size() < 2);
    packages.remove("package-info");
    assertThat(packages).isEmpty();
  }

  @Test
  void theClassesOfAPackageFormNoCircleThatIsNotExplained() {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      Set<String> used = uses.computeIfAbsent(topLevel(type), name -> new TreeSet<>());
      type.getDirectDependenciesFromSelf().stream()
          .map(dependency -> dependency.getTargetClass().getBaseComponentType())
          .filter(target -> target.getPackageName().equals(type.getPackageName()))
          .map(RoomRulesTest::topLevel)
          .filter(name -> !name.equals(topLevel(type)))
          .forEach(used::add);
    }
    Set<String> circles = new TreeSet<>(new Circles(uses).found());
    assertThat(circles)
        .as("none unexplained, none explained that is gone")
        .isEqualTo(new TreeSet<>(CIRCLES.keySet()));
  }

  /** The map of the packages has them in the groups that follow from what they see. */
  @Test
  void theMapDrawsWhichPackageSeesWhich() throws IOException {
    Map<String, Set<String>> seen = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      Set<String> targets = seen.computeIfAbsent(room(type), name -> new TreeSet<>());
      type.getDirectDependenciesFromSelf().stream()
          .map(dependency -> dependency.getTargetClass().getBaseComponentType())
          .filter(target -> target.getPackageName().startsWith(ROOT))
          .map(RoomRulesTest::room)
          .forEach(targets::add);
    }
    StringBuilder drawing = new StringBuilder();
    for (String module : List.of("launcher", "admin", "cluster", "cache", "core")) {
      drawing.append(new Drawing(module, seen).text());
    }
    assertThat(Files.readString(Path.of("../docs/architecture/index.md")))
        .contains("\n```\n" + drawing + "```\n");
  }

  private static String room(JavaClass type) {
    return type.getPackageName().substring(ROOT.length());
  }

  private static String module(String room) {
    return room.replaceFirst("\\..*", "");
  }

  /** The packages of one module in a row, each to the left of all that it sees there. */
  private static final class Drawing {

    private static final int WIDTH = 100;
    private static final String MARGIN = "           ";

    private final String module;
    private final Map<String, Set<String>> seen;

    Drawing(String module, Map<String, Set<String>> seen) {
      this.module = module;
      this.seen = seen;
    }

    String text() {
      TreeMap<Integer, Set<String>> groups = new TreeMap<>(Comparator.reverseOrder());
      for (String room : seen.keySet()) {
        if (module(room).equals(module)) {
          groups
              .computeIfAbsent(height(room), number -> new TreeSet<>())
              .add(room.replace(module + ".", ""));
        }
      }
      StringBuilder text = new StringBuilder();
      String line = (" " + module + MARGIN).substring(0, MARGIN.length());
      String arrow = "";
      for (Set<String> group : groups.values()) {
        String next = arrow + String.join(", ", group);
        if (line.length() + next.length() > WIDTH) {
          text.append(line.stripTrailing()).append('\n');
          line = MARGIN;
        }
        line += next + " ";
        arrow = "─► ";
      }
      return text.append(line.stripTrailing()).append('\n').toString();
    }

    /** How many packages of the module the longest way from this one leads through. */
    private int height(String room) {
      return seen.getOrDefault(room, Set.of()).stream()
          .filter(target -> module(target).equals(module) && !target.equals(room))
          .mapToInt(target -> 1 + height(target))
          .max()
          .orElse(0);
    }
  }

  private static boolean isTopLevel(JavaClass type) {
    return type.isTopLevelClass();
  }

  private static String topLevel(JavaClass type) {
    return type.getName().replaceFirst("\\$.*", "");
  }

  /** The strongly connected components of more than one class (Tarjan, 1972). */
  private static final class Circles {

    private final Map<String, Set<String>> uses;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> path = new ArrayDeque<>();
    private final List<String> found = new ArrayList<>();

    Circles(Map<String, Set<String>> uses) {
      this.uses = uses;
    }

    /** Each as its simple names in order, with blanks between. */
    List<String> found() {
      for (String type : uses.keySet()) {
        if (!numbers.containsKey(type)) {
          visit(type);
        }
      }
      return found;
    }

    private void visit(String type) {
      int number = numbers.size();
      numbers.put(type, number);
      lowest.put(type, number);
      path.push(type);
      for (String used : uses.getOrDefault(type, Set.of())) {
        if (!numbers.containsKey(used)) {
          visit(used);
          lowest.merge(type, lowest.get(used), Math::min);
        } else if (path.contains(used)) {
          lowest.merge(type, numbers.get(used), Math::min);
        }
      }
      if (lowest.get(type) == number) {
        close(type);
      }
    }

    private void close(String first) {
      Set<String> members = new TreeSet<>();
      String member;
      do {
        member = path.pop();
        members.add(member.substring(member.lastIndexOf('.') + 1));
      } while (!member.equals(first));
      if (members.size() > 1) {
        found.add(members.stream().collect(Collectors.joining(" ")));
      }
    }
  }
}
