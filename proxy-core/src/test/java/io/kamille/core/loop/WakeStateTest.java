package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * No wake-up is lost: every interleaving of a loop and two givers is tried, one atomic access at a
 * time. What givers do is {@link WakeState} itself; the loop is a model of its turns.
 */
class WakeStateTest {

  @Test
  void noInterleavingLosesAWakeUp() {
    Search search = new Search(true);
    search.from(new World());
    assertThat(search.lost).isEmpty();
    assertThat(search.seen.size()).isGreaterThan(1_000);
  }

  @Test
  void theSearchFindsALossWhereTheQueueIsLookedAtTooEarly() {
    Search search = new Search(false);
    search.from(new World());
    assertThat(search.lost).isNotEmpty();
  }

  @Test
  void aPauseIsEndedByOneGiverAlone() {
    WakeState state = new WakeState();
    state.pausing();
    assertThat(state.wake()).isEqualTo(WakeState.Wake.UNPARK);
    assertThat(state.isPaused()).isFalse();
    assertThat(state.wake()).isEqualTo(WakeState.Wake.NOTHING);
  }

  @Test
  void ofTwoGiversThatSawThePauseOneEndsIt() {
    WakeState state = new WakeState();
    state.pausing();
    int first = state.seen();
    int second = state.seen();
    assertThat(state.wake(second)).isEqualTo(WakeState.Wake.UNPARK);
    assertThat(state.wake(first)).isEqualTo(WakeState.Wake.NOTHING);
  }

  @Test
  void inTheDelegateItsOwnWakeUpHolds() {
    WakeState state = new WakeState();
    state.delegating();
    assertThat(state.wake()).isEqualTo(WakeState.Wake.DELEGATE);
    assertThat(state.wake()).isEqualTo(WakeState.Wake.DELEGATE);
  }

  @Test
  void aRunningLoopIsLeftAlone() {
    WakeState state = new WakeState();
    assertThat(state.wake()).isEqualTo(WakeState.Wake.NOTHING);
    state.delegating();
    state.running();
    assertThat(state.wake()).isEqualTo(WakeState.Wake.NOTHING);
  }

  /**
   * The loop's program, one atomic access per step. In the delegate, ARMED and the event descriptor
   * are those of Netty's EpollIoHandler.
   */
  private enum Loop {
    SAY_PAUSED,
    LOOK_BEFORE_PARK,
    PARK,
    STILL_PAUSED,
    SAY_RUNNING_AFTER_PAUSE,
    SAY_DELEGATING,
    ARM,
    LOOK_BEFORE_BLOCK,
    BLOCK,
    DISARM,
    SAY_RUNNING,
    TAKE_TASKS
  }

  private enum Giver {
    OFFER,
    LOOK,
    ACT,
    UNPARK,
    WRITE,
    DONE
  }

  /** Everything that is shared or remembered. */
  private static final class World {

    Loop loop = Loop.SAY_PAUSED;
    Giver[] givers = {Giver.OFFER, Giver.OFFER};
    WakeState.Place[] sawPlace = {WakeState.Place.RUNNING, WakeState.Place.RUNNING};
    WakeState.Place place = WakeState.Place.RUNNING;
    int queue;
    boolean lookedEmpty;
    boolean permit;
    boolean armed;
    boolean written;
    int taken;
    int rounds;

    World copy() {
      World copy = new World();
      copy.loop = loop;
      copy.givers = givers.clone();
      copy.sawPlace = sawPlace.clone();
      copy.place = place;
      copy.queue = queue;
      copy.lookedEmpty = lookedEmpty;
      copy.permit = permit;
      copy.armed = armed;
      copy.written = written;
      copy.taken = taken;
      copy.rounds = rounds;
      return copy;
    }

    List<Object> key() {
      List<Object> key = new ArrayList<>();
      key.add(loop);
      Collections.addAll(key, (Object[]) givers);
      Collections.addAll(key, (Object[]) sawPlace);
      Collections.addAll(key, place, queue, lookedEmpty, permit, armed, written, taken, rounds);
      return key;
    }
  }

  /** Depth first through all worlds. */
  private static final class Search {

    private static final int ROUNDS = 3;

    final Set<List<Object>> seen = new HashSet<>();
    final List<List<Object>> lost = new ArrayList<>();
    private final boolean isSaidFirst;

    /**
     * A search.
     *
     * @param isSaidFirst whether the loop says that it pauses before it looks at its queue
     */
    Search(boolean isSaidFirst) {
      this.isSaidFirst = isSaidFirst;
    }

    void from(World world) {
      if (!seen.add(world.key()) || world.rounds > ROUNDS) {
        return;
      }
      boolean moved = false;
      for (int giver = 0; giver < world.givers.length; giver++) {
        if (world.givers[giver] != Giver.DONE) {
          World next = world.copy();
          give(next, giver);
          from(next);
          moved = true;
        }
      }
      World next = world.copy();
      if (turn(next)) {
        from(next);
      } else if (!moved && world.queue > 0) {
        lost.add(world.key());
      }
    }

    /** One step of a giver. */
    private static void give(World world, int giver) {
      switch (world.givers[giver]) {
        case OFFER -> {
          world.queue++;
          world.givers[giver] = Giver.LOOK;
        }
        case LOOK -> {
          world.sawPlace[giver] = placeOf(at(world.place));
          world.givers[giver] = Giver.ACT;
        }
        case ACT -> world.givers[giver] = act(world, giver);
        case UNPARK -> {
          world.permit = true;
          world.givers[giver] = Giver.DONE;
        }
        case WRITE -> {
          world.written = true;
          world.givers[giver] = Giver.DONE;
        }
        case DONE -> throw new IllegalStateException();
      }
    }

    private static Giver act(World world, int giver) {
      WakeState state = at(world.place);
      WakeState.Wake wake = state.wake(world.sawPlace[giver].ordinal());
      world.place = placeOf(state);
      return switch (wake) {
        case NOTHING -> Giver.DONE;
        case UNPARK -> Giver.UNPARK;
        case DELEGATE -> {
          boolean wasArmed = world.armed;
          world.armed = false;
          yield wasArmed ? Giver.WRITE : Giver.DONE;
        }
      };
    }

    /** The class under test, where the world has it. */
    private static WakeState at(WakeState.Place place) {
      WakeState state = new WakeState();
      switch (place) {
        case RUNNING -> state.running();
        case PAUSED -> state.pausing();
        case IN_DELEGATE -> state.delegating();
      }
      return state;
    }

    private static WakeState.Place placeOf(WakeState state) {
      return WakeState.Place.values()[state.seen()];
    }

    /** One step of the loop; false if it can take none. No pause and no poll ever times out. */
    private boolean turn(World world) {
      switch (world.loop) {
        case SAY_PAUSED -> {
          world.lookedEmpty = world.queue == 0;
          if (isSaidFirst) {
            world.place = WakeState.Place.PAUSED;
          }
          world.loop = Loop.LOOK_BEFORE_PARK;
        }
        case LOOK_BEFORE_PARK -> {
          boolean isEmpty = isSaidFirst ? world.queue == 0 : world.lookedEmpty;
          world.place = isSaidFirst ? world.place : WakeState.Place.PAUSED;
          world.loop = isEmpty ? Loop.PARK : Loop.SAY_RUNNING_AFTER_PAUSE;
        }
        case PARK -> {
          if (!world.permit) {
            return mayTimeOut(world);
          }
          world.permit = false;
          world.loop = Loop.STILL_PAUSED;
        }
        case STILL_PAUSED ->
            world.loop =
                world.place == WakeState.Place.PAUSED
                    ? Loop.LOOK_BEFORE_PARK
                    : Loop.SAY_RUNNING_AFTER_PAUSE;
        case SAY_RUNNING_AFTER_PAUSE -> {
          world.place = WakeState.Place.RUNNING;
          world.loop = Loop.SAY_DELEGATING;
        }
        case SAY_DELEGATING -> {
          world.place = WakeState.Place.IN_DELEGATE;
          world.loop = Loop.ARM;
        }
        case ARM -> {
          world.armed = true;
          world.loop = Loop.LOOK_BEFORE_BLOCK;
        }
        case LOOK_BEFORE_BLOCK -> world.loop = world.queue == 0 ? Loop.BLOCK : Loop.DISARM;
        case BLOCK -> {
          if (!world.written) {
            return false;
          }
          world.written = false;
          world.loop = Loop.DISARM;
        }
        case DISARM -> {
          world.armed = false;
          world.loop = Loop.SAY_RUNNING;
        }
        case SAY_RUNNING -> {
          world.place = WakeState.Place.RUNNING;
          world.loop = Loop.TAKE_TASKS;
        }
        case TAKE_TASKS -> {
          world.taken += world.queue;
          world.queue = 0;
          world.rounds++;
          world.loop = Loop.SAY_PAUSED;
        }
      }
      return true;
    }

    /**
     * While somebody may still come the pause can be over at any time; when nobody will, a task in
     * the queue and a loop that goes on parking is a loss.
     */
    private static boolean mayTimeOut(World world) {
      boolean isOver =
          world.givers[0] == Giver.DONE && world.givers[1] == Giver.DONE && world.queue > 0;
      if (!isOver) {
        world.loop = Loop.SAY_RUNNING_AFTER_PAUSE;
      }
      return !isOver;
    }
  }
}
