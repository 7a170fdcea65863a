package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
              "Member Row Section SectionValues Setting Subsection",
              "a section is made of settings and sections"),
          Map.entry(
              "ContentWindow FillPieces Follower FollowerGroup InFlight InFlightTable SharedChunk",
              "news goes from a leader to its followers, and word of their leaving back"),
          Map.entry(
              "H1ClientConnection H1Exchange H1Shard",
              "an exchange goes by its connection's state"),
          Map.entry("H2OriginConnection H2OriginStream", "a stream goes by its connection's state"),
          Map.entry(
              "SendBufferAdvisor TcpSampler TcpSamples TunableChannel WaitingOctets",
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
