package io.kamille.core.setting;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigReaderTest {

  private record Door(HostPort address, int width) {
    static final Setting<HostPort> ADDRESS = Setting.of("address", ValueTypes.address(), "Where.");
    static final Setting<Integer> WIDTH =
        Setting.of("width", ValueTypes.wholeNumber(1, 9), "How wide.").defaultsTo(3);
    static final Section<Door> SECTION = Section.of(Door.class, ADDRESS, WIDTH);
  }

  private record Room(Duration openTimeout) {
    static final Setting<Duration> TIMEOUT =
        Setting.of(
                "open-timeout",
                ValueTypes.duration(Duration.ofMillis(1), Duration.ofHours(1)),
                "How long.")
            .defaultsTo(Duration.ofSeconds(1));
    static final Section<Room> SECTION = Section.of(Room.class, TIMEOUT);
  }

  private record Cellar(long capacityBytes, long shelfBytes) {
    static final Setting<Long> CAPACITY =
        Setting.of("capacity", ValueTypes.size(1, 1 << 20), "How much.").defaultsTo(4_096L);
    static final Setting<Long> SHELF =
        Setting.of("shelf", ValueTypes.size(1, 1 << 20), "How much on one.")
            .defaultsTo("half of it", cellar -> cellar.value(CAPACITY) / 2);
    static final Section<Cellar> SECTION = Section.of(Cellar.class, CAPACITY, SHELF);
  }

  private record Paint(@Nullable Double share, boolean light) {
    static final Setting<Double> SHARE =
        Setting.of("share", ValueTypes.ratio(), "How much of it.").orElse("nothing");
    static final Setting<Boolean> LIGHT =
        Setting.of("light", ValueTypes.onOff(), "Whether.").defaultsTo(true);
    static final Section<Paint> SECTION = Section.of(Paint.class, SHARE, LIGHT);
  }

  private record House(
      List<Door> doors,
      Map<String, Room> rooms,
      Cellar cellar,
      Paint paint,
      List<String> names,
      int floors) {}

  private static final Setting<Integer> WIDTH = Door.WIDTH;
  private static final Setting<Duration> TIMEOUT = Room.TIMEOUT;
  private static final Setting<Long> CAPACITY = Cellar.CAPACITY;
  private static final Setting<Long> SHELF = Cellar.SHELF;
  private static final Setting<Double> SHARE = Paint.SHARE;
  private static final Setting<Boolean> LIGHT = Paint.LIGHT;
  private static final Setting<HostPort> ADDRESS = Door.ADDRESS;

  private static final Subsection<Door> DOORS =
      Door.SECTION.list("doors", "Doors.").withShorthand(ADDRESS).atLeastOne("at least one door");
  private static final Subsection<Room> ROOMS = Room.SECTION.named("rooms", "Rooms.");
  private static final Subsection<Cellar> CELLAR = Cellar.SECTION.one("cellar", "The cellar.");

  private static final Setting<List<String>> NAMES =
      Setting.of("names", ValueTypes.fieldNames(), "What it is called.").defaultsTo(List.of("A"));

  private static final Section<House> HOUSE =
      Section.of(House.class, DOORS, ROOMS, CELLAR, Paint.SECTION.inlined(), NAMES, Row.fixed(2));

  @Test
  void aNameWithADotIsNoKeyOfAnother() {
    SectionValues house =
        read("{doors: [':80'], rooms: {a: {open-timeout: 5s}, a.open-timeout: }}");
    assertThat(HOUSE.record(house).rooms()).containsOnlyKeys("a", "a.open-timeout");
  }

  @Test
  void aRecordHasEveryValueInItsPlace() {
    SectionValues house = read("{doors: [':80'], rooms: {b: , a: {open-timeout: 5s}}, light: off}");
    assertThat(HOUSE.record(house))
        .isEqualTo(
            new House(
                List.of(new Door(new HostPort("", 80), 3)),
                Map.of("a", new Room(Duration.ofSeconds(5)), "b", new Room(Duration.ofSeconds(1))),
                new Cellar(4_096, 2_048),
                new Paint(null, false),
                List.of("A"),
                2));
    assertThat(HOUSE.record(house).rooms().keySet()).containsExactly("b", "a");
    assertThat(Cellar.SECTION.defaults()).isEqualTo(new Cellar(4_096, 2_048));
  }

  @Test
  void aRowThatIsNotThatOfItsComponentIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Section.of(Cellar.class, SHELF, CAPACITY))
        .withMessageContaining("row shelf (expected: that of capacityBytes)");
    assertThatIllegalArgumentException().isThrownBy(() -> Section.of(Cellar.class, CAPACITY));
    assertThat(Section.of(Cellar.class, SHELF.into("capacityBytes"), Row.fixed(7L)).defaults())
        .isNotNull();
  }

  @Test
  void whatIsNotGivenHasItsDefault() {
    SectionValues house = read("doors: [':80']");
    assertThat(house.value(LIGHT)).isTrue();
    assertThat(house.find(SHARE)).isNull();
    assertThat(house.one(CELLAR).value(SHELF)).isEqualTo(2_048);
    assertThat(house.all(DOORS)).singleElement().extracting(it -> it.value(WIDTH)).isEqualTo(3);
    assertThat(house.all(ROOMS)).isEmpty();
  }

  @Test
  void whatIsGivenIsReadWithItsPlace() {
    SectionValues house =
        read(
            """
            doors:
              - {address: ":80", width: 5}
            rooms:
              blue: {open-timeout: 5s}
              red:
            cellar:
              capacity: 64KiB
            light: off
            share: .25
            """);
    assertThat(house.value(LIGHT)).isFalse();
    assertThat(house.find(SHARE)).isEqualTo(0.25);
    assertThat(house.one(CELLAR).value(SHELF)).isEqualTo(32_768);
    assertThat(house.all(ROOMS)).extracting(SectionValues::name).containsExactly("blue", "red");
    assertThat(house.all(ROOMS).getFirst().value(TIMEOUT)).isEqualTo(Duration.ofSeconds(5));
    SectionValues door = house.all(DOORS).getFirst();
    assertThat(door.position(WIDTH)).isEqualTo(new Position(2, 29));
    assertThat(door.path(WIDTH)).isEqualTo("doors[0].width");
  }

  @Test
  void aListOfValuesMayBeEmpty() {
    assertThat(read("doors: [':80']").value(NAMES)).containsExactly("A");
    assertThat(read("doors: [':80']\nnames: [X-B, c]").value(NAMES)).containsExactly("X-B", "c");
    assertThat(read("doors: [':80']\nnames: []").value(NAMES)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cellar: {capcity: 1} | 2:10: cellar.capcity: unknown key (did you mean \"capacity\"?)",
        "lihgt: on | 2:1: lihgt: unknown key (did you mean \"light\"?)",
        "Light: on | 2:1: Light: unknown key (did you mean \"light\"?)",
        "rooms: {a: {open_timeout: 1s}} | 2:13: rooms.a.open_timeout: unknown key (did you mean"
            + " \"open-timeout\"?)",
        "zebra: on | 2:1: zebra: unknown key, expected one of doors, rooms, cellar, share, light,"
            + " names",
        "light: off;light: on | 3:1: light: found the key a second time, expected it only once"
            + " (first in line 2)",
        "rooms: {a: , a: } | 2:14: rooms.a: found the key a second time, expected it only once"
            + " (first in line 2)",
        "light: maybe | 2:8: light: found \"maybe\", expected on or off",
        "light: | 2:7: light: found nothing, expected on or off",
        "light: [on] | 2:8: light: found a list, expected a value (on or off)",
        "light: {a: 1} | 2:8: light: found a section, expected a value (on or off)",
        "share: 1.5 | 2:8: share: found \"1.5\", expected a ratio of 0–1 such as 0.1",
        "cellar: {capacity: 2MiB} | 2:20: cellar.capacity: found \"2MiB\", expected a size of"
            + " 1–1MiB in KiB, MiB, GiB or TiB",
        "rooms: {a: {open-timeout: 5}} | 2:27: rooms.a.open-timeout: found \"5\", expected a"
            + " duration of 1ms–1h such as 250ms, 30s, 5m or 1h",
        "names: A | 2:8: names: found \"A\", expected a list of field names",
        "names: | 2:7: names: found nothing, expected a list of field names",
        "names: [A, 'b c'] | 2:12: names[1]: found \"b c\", expected a field name of letters,"
            + " digits and -_.",
        "names: [A, {}] | 2:12: names[1]: found a section, expected a value",
        "names: [~] | 2:9: names[0]: found nothing, expected a value",
        "cellar: 5 | 2:9: cellar: found \"5\", expected a section",
        "cellar: [] | 2:9: cellar: found a list, expected a section",
        "rooms: [] | 2:8: rooms: found a list, expected sections under names",
        "rooms: {a: 5} | 2:12: rooms.a: found \"5\", expected a section",
        "rooms: {'a b': } | 2:9: rooms: found \"a b\", expected a name of up to 64 letters, digits"
            + " and ._-"
      })
  void everyMistakeIsNamedWithItsPlace(String text, String expected) {
    assertThat(problems("doors: [':80']\n" + text.replace(';', '\n')))
        .containsExactly("f.yaml:" + expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "light: on | 1:1: doors: found nothing, expected at least one door",
        "doors: | 1:1: doors: found nothing, expected at least one door",
        "doors: [] | 1:1: doors: found nothing, expected at least one door",
        "doors: ':80' | 1:8: doors: found \":80\", expected a list",
        "doors: [{width: 3}] | 1:9: doors[0].address: found nothing, expected a value (address)",
        "doors: [~] | 1:9: doors[0].address: found nothing, expected a value (address)",
        "doors: [{address: }] | 1:18: doors[0].address: found nothing, expected HOST:PORT with a"
            + " port of 1–65535",
        "doors: [':80', {address: ':81', width: 0}] | 1:40: doors[1].width: found \"0\", expected a"
            + " whole number of 1–9",
        "doors: ['127.0.0.1:99999'] | 1:9: doors[0].address: found \"127.0.0.1:99999\", expected"
            + " HOST:PORT with a port of 1–65535",
        "doors: [[]] | 1:9: doors[0]: found a list, expected a section",
        "[a] | 1:1: found a list, expected a section",
        "hello | 1:1: found \"hello\", expected a section"
      })
  void whatMustBeThereIsMissedWhereItBelongs(String text, String expected) {
    assertThat(problems(text)).containsExactly("f.yaml:" + expected);
  }

  @Test
  void allMistakesAreShownInTheOrderOfTheFile() {
    assertThat(
            problems(
                """
                light: maybe
                doors:
                  - width: 12
                  - 127.0.0.1
                roms: {}
                cellar:
                  capacity: 5 apples
                """))
        .containsExactly(
            "f.yaml:1:8: light: found \"maybe\", expected on or off",
            "f.yaml:3:5: doors[0].address: found nothing, expected a value (address)",
            "f.yaml:3:12: doors[0].width: found \"12\", expected a whole number of 1–9",
            "f.yaml:4:5: doors[1].address: found \"127.0.0.1\", expected HOST:PORT with a port of"
                + " 1–65535",
            "f.yaml:5:1: roms: unknown key (did you mean \"rooms\"?)",
            "f.yaml:7:13: cellar.capacity: found \"5 apples\", expected a size of 1–1MiB in"
                + " KiB, MiB, GiB or TiB");
  }

  @Test
  void aMistypedKeyIsNotAlsoCalledMissing() {
    assertThat(problems("dors: [':80']"))
        .containsExactly("f.yaml:1:1: dors: unknown key (did you mean \"doors\"?)");
    assertThat(problems("doors: [{adress: ':80'}]"))
        .containsExactly("f.yaml:1:10: doors[0].adress: unknown key (did you mean \"address\"?)");
    assertThat(problems("doors: [{colour: red}]"))
        .hasSize(2)
        .first()
        .asString()
        .contains("doors[0].address: found nothing");
  }

  @Test
  void aNameWithADotIsNoKeyOfAnotherSection() {
    assertThat(
            problems(
                """
                doors: [':80']
                rooms:
                  red: {open-timeout: 1s}
                  red.open-timeout: {}
                """))
        .isEmpty();
  }

  @Test
  void beyondAHundredProblemsAreOnlyCounted() {
    var text = new StringBuilder("doors: [':80']\n");
    for (int i = 0; i < 150; i++) {
      text.append("key").append(i).append(": 1\n");
    }
    assertThat(problems(text.toString()))
        .hasSize(101)
        .last()
        .isEqualTo(
            "f.yaml: found 50 more problems, expected the first 100 to be repaired before the rest"
                + " is shown");
  }

  @Test
  void textFromTheFileIsShownPrintableAndShort() {
    assertThat(problems("doors: [':80']\nlight: \"\\e[31m" + "x".repeat(100) + "\""))
        .containsExactly(
            "f.yaml:2:8: light: found \"\uFFFD[31m" + "x".repeat(55) + "…\", expected on or off");
  }

  private static SectionValues read(String text) {
    var problems = new Problems("f.yaml");
    SectionValues values = read(text, problems);
    assertThat(problems.inOrder()).isEmpty();
    return values;
  }

  private static List<String> problems(String text) {
    var problems = new Problems("f.yaml");
    read(text, problems);
    return problems.inOrder().stream().map(Problem::toString).toList();
  }

  private static SectionValues read(String text, Problems problems) {
    ConfigNode root = ConfigTree.parse(text.getBytes(UTF_8), problems);
    return ConfigReader.read(Objects.requireNonNull(root), HOUSE, problems);
  }
}
