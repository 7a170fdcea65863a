package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class SectionsTest {

  record Inner(long bytes) {}

  record Outer(int count, Inner inner) {}

  record Door(int width) {
    static final Section<Door> SECTION =
        Section.of(
            Door.class,
            Setting.of("width", ValueTypes.wholeNumber(1, 9), "How wide it is.").defaultsTo(3));
  }

  record House(Door front) {
    static final Section<House> SECTION =
        Section.of(
            House.class,
            Door.SECTION
                .checkedBy(
                    (door, problems) -> problems.conflict(door, "a door of width 2", "another"))
                .one("front", "The door to the street."));
  }

  @Test
  void aSectionInsideAnotherSaysWhatIsWrongWithItIfTheTextHasIt() {
    assertThat(Sections.of(House.SECTION, "{}").front()).isEqualTo(new Door(3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Sections.of(House.SECTION, "front: {width: 2}"))
        .withMessageContaining("front: found a door of width 2, expected another");
  }

  @Test
  void aSectionWithACheckIsNotInlined() {
    Section<Door> checked = Door.SECTION.checkedBy((door, problems) -> {});
    assertThatIllegalStateException().isThrownBy(checked::inlined);
  }

  @Test
  void aTextMakesARecordOrSaysWhyNot() {
    assertThat(Sections.of(Door.SECTION, "width: %d", 4)).isEqualTo(new Door(4));
    assertThat(Sections.of(Door.SECTION, "{}")).isEqualTo(new Door(3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Sections.of(Door.SECTION, "widht: 4"))
        .withMessageContaining("did you mean \"width\"?");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Sections.of(Door.SECTION, "width: 10"))
        .withMessageContaining("width: found \"10\"");
  }

  @Test
  void aCopyDiffersInWhatItIsTold() {
    Outer outer = new Outer(1, new Inner(2));
    assertThat(Sections.copy(outer).with("inner.bytes", 3).with("count", 4).record())
        .isEqualTo(new Outer(4, new Inner(3)));
    assertThat(outer).isEqualTo(new Outer(1, new Inner(2)));
    for (String unknown : new String[] {"inner.octets", "cuont"}) {
      assertThatIllegalArgumentException().isThrownBy(() -> Sections.copy(outer).with(unknown, 3));
    }
  }
}
