//! Things that people change together and watch live: parties, tables and tournaments.
//!
//! A live thing is a state machine driven by inputs. An input is tried on a draft, written to the file, and only then answered and
//! shown. So a server that is killed loses nothing that anybody was told, and the next one rebuilds the thing from the file.
//! Viewers never wait for the file.

use crate::{Db, Refusal, Site, places::Origin, stream};
use axum::response::Response;
use std::{
    borrow::Borrow,
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant, SystemTime},
};
use tokio::sync::watch;

/// A kind of thing that can be live.
pub(crate) trait Thing: Send + Sized + 'static {
    /// The type of its key in the file.
    type Id: Send + Sync;
    /// The state that results from the inputs, which is all that the file knows of it.
    type State: Clone + Send;
    /// The type of the changes, which are written to the file.
    type Input: Send;

    /// Returns the state that is shown.
    fn state(&self) -> &Self::State;

    /// Applies an input to a state. An input that is refused changes nothing.
    fn apply(state: &mut Self::State, input: &Self::Input) -> Result<(), Refusal>;

    /// Writes all inputs, or none; `state` is the state after them.
    fn write(db: &Db, id: &Self::Id, inputs: &[Self::Input], state: &Self::State) -> Result<(), Refusal>;

    /// Takes an input that is already in the file, and acts on it.
    fn take(&mut self, input: Self::Input) -> Result<(), Refusal>;

    /// Called at `now` (milliseconds since 1970), after all waiting inputs are taken and before viewers look.
    fn taken(&mut self, _now: u64) {}
}

/// A thing and its viewers.
pub(crate) struct Live<T: Thing> {
    pub id: T::Id,
    db: Db,
    /// The state including the inputs that are just being written. Only the writer uses it, so nobody else waits for the file, and
    /// nobody sees what could still be lost. Locked before `thing`.
    draft: Mutex<T::State>,
    /// The jobs that wait. The next thread to get the draft does all of them, and writes the file once.
    queue: Mutex<Vec<Job<T>>>,
    thing: Mutex<T>,
    changes: watch::Sender<u64>,
}

/// Decides from the current state which inputs to apply.
type Wanted<T> = Box<dyn FnOnce(&<T as Thing>::State) -> Result<Vec<<T as Thing>::Input>, Refusal> + Send>;

/// A request to change the state, and its result.
struct Job<T: Thing> {
    wanted: Wanted<T>,
    done: Arc<OnceLock<Result<(), Refusal>>>,
}

/// Locks a mutex, even if a thread has panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns milliseconds since 1970, on a clock that cannot be set: it starts with the time of day and runs evenly, so that no turn
/// ends because somebody changed the machine's time.
pub(crate) fn now() -> u64 {
    static START: LazyLock<(Instant, Duration)> = LazyLock::new(|| {
        let of_day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        (Instant::now(), of_day.unwrap_or_default())
    });
    let (start, of_day) = *START;
    u64::try_from((of_day + start.elapsed()).as_millis()).unwrap_or(u64::MAX)
}

impl<T: Thing> Live<T> {
    pub fn new(id: T::Id, db: &Db, thing: T) -> Self {
        Live {
            id,
            db: db.clone(),
            draft: Mutex::new(thing.state().clone()),
            queue: Mutex::default(),
            thing: Mutex::new(thing),
            changes: watch::Sender::new(0),
        }
    }

    /// Returns the file that the thing is written to.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Locks the state that is shown.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        lock(&self.thing)
    }

    /// Applies the inputs that `wanted` chooses from the current state: all of them, or none. They are in the file before this
    /// returns, so do not call this on the threads that answer requests.
    pub fn act(
        &self,
        now: u64,
        wanted: impl FnOnce(&T::State) -> Result<Vec<T::Input>, Refusal> + Send + 'static,
    ) -> Result<(), Refusal> {
        let done = Arc::new(OnceLock::new());
        lock(&self.queue).push(Job { wanted: Box::new(wanted), done: done.clone() });
        let mut draft = self.draft();
        if done.get().is_none() {
            self.work_off(&mut draft, now);
        }
        drop(draft);
        done.get().cloned().unwrap_or_else(|| Err(Refusal::internal("nobody has carried out a job")))
    }

    fn draft(&self) -> MutexGuard<'_, T::State> {
        self.draft.lock().unwrap_or_else(|poisoned| {
            // After a panic the draft may be ahead of the file.
            let mut draft = poisoned.into_inner();
            draft.clone_from(self.lock().state());
            self.draft.clear_poison();
            draft
        })
    }

    /// Carries out all jobs that wait.
    fn work_off(&self, draft: &mut T::State, now: u64) {
        let jobs = std::mem::take(&mut *lock(&self.queue));
        let mut inputs = Vec::new();
        let mut answers = Vec::new();
        for Job { wanted, done } in jobs {
            answers.push((done, self.try_on(draft, &mut inputs, wanted)));
        }
        let kept = match inputs.is_empty() {
            true => Ok(()),
            false => T::write(&self.db, &self.id, &inputs, draft).and_then(|()| self.publish(inputs, now)),
        };
        if kept.is_err() {
            draft.clone_from(self.lock().state());
        }
        for (done, answer) in answers {
            // Each is answered once.
            let _ = done.set(answer.and(kept.clone()));
        }
    }

    /// Applies the wanted inputs to the draft; `taken` are the inputs that separate the draft from the state that is shown.
    fn try_on(
        &self,
        draft: &mut T::State,
        taken: &mut Vec<T::Input>,
        wanted: Wanted<T>,
    ) -> Result<(), Refusal> {
        let inputs = wanted(draft)?;
        for (place, input) in inputs.iter().enumerate() {
            if let Err(why) = T::apply(draft, input) {
                // What is refused has changed nothing, but what came before it in the same breath has.
                if place > 0 {
                    draft.clone_from(self.lock().state());
                    taken.iter().try_for_each(|input| T::apply(draft, input))?;
                }
                return Err(why);
            }
        }
        taken.extend(inputs);
        Ok(())
    }

    /// Shows the inputs that are now in the file.
    fn publish(&self, inputs: Vec<T::Input>, now: u64) -> Result<(), Refusal> {
        let mut thing = self.lock();
        // The draft was the same state, so this one takes them, too.
        inputs.into_iter().try_for_each(|input| thing.take(input))?;
        thing.taken(now);
        drop(thing);
        self.tell();
        Ok(())
    }

    /// Changes parts that are shown but not written, such as who is here and the progress.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.tell();
        result
    }

    /// Makes all viewers look again.
    pub fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Sends the result of `look` whenever it changes, until `look` returns `None`.
    pub fn follow(
        self: &Arc<Self>,
        site: &Site,
        origin: Origin,
        mut look: impl FnMut(&Self) -> Option<Arc<str>> + Send + 'static,
    ) -> Result<Response, Refusal> {
        let live = self.clone();
        stream::live(site, origin, self.changes.subscribe(), move || look(&live))
    }
}

/// All open things of one kind, by id.
pub(crate) struct Open<K, V> {
    /// Held while one is opened, until it is in the file: only one is opened at a time.
    opening: Mutex<()>,
    /// Not held while the file is written, because every request looks into it.
    things: Mutex<BTreeMap<K, Arc<V>>>,
}

impl<K, V> Default for Open<K, V> {
    fn default() -> Self {
        Open { opening: Mutex::default(), things: Mutex::default() }
    }
}

impl<K: Ord, V> Open<K, V> {
    /// Locks the right to open things: only the holder may.
    pub fn alone(&self) -> MutexGuard<'_, ()> {
        lock(&self.opening)
    }

    pub fn find<Q: Ord + ?Sized>(&self, id: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        lock(&self.things).get(id).cloned()
    }

    pub fn all(&self) -> Vec<Arc<V>> {
        lock(&self.things).values().cloned().collect()
    }

    /// Adds a thing unless its id is taken. Returns the one that is there now.
    pub fn add(&self, id: K, thing: Arc<V>) -> Arc<V> {
        lock(&self.things).entry(id).or_insert(thing).clone()
    }

    pub fn remove<Q: Ord + ?Sized>(&self, id: &Q)
    where
        K: Borrow<Q>,
    {
        lock(&self.things).remove(id);
    }

    pub fn retain(&self, keep: impl Fn(&V) -> bool) {
        lock(&self.things).retain(|_, thing| keep(thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum that never exceeds 10. The file accepts everything but a sum of 7.
    struct Sum(u32);

    impl Thing for Sum {
        type Id = ();
        type State = u32;
        type Input = u32;

        fn state(&self) -> &u32 {
            &self.0
        }

        fn apply(sum: &mut u32, input: &u32) -> Result<(), Refusal> {
            assert_ne!(*input, 1000, "a mistake of ours");
            if *sum + input > 10 {
                return Err(Refusal::conflict("more than 10"));
            }
            *sum += input;
            Ok(())
        }

        fn write(db: &Db, (): &(), inputs: &[u32], sum: &u32) -> Result<(), Refusal> {
            if *sum == 7 {
                return Err(Refusal::internal("no file takes 7"));
            }
            for input in inputs {
                db.lock().execute("INSERT INTO input VALUES (?1)", [input])?;
            }
            Ok(())
        }

        fn take(&mut self, input: u32) -> Result<(), Refusal> {
            Self::apply(&mut self.0, &input)
        }
    }

    fn live() -> Live<Sum> {
        let db = Db::open(None).unwrap();
        db.lock().execute_batch("CREATE TABLE input (number INTEGER)").unwrap();
        Live::new((), &db, Sum(0))
    }

    fn check(live: &Live<Sum>, sum: u32) {
        let written = "SELECT coalesce(sum(number), 0) FROM input";
        let written: u32 = live.db().lock().query_row(written, [], |row| row.get(0)).unwrap();
        let draft = *live.draft();
        assert_eq!((live.lock().0, draft, written), (sum, sum, sum));
    }

    #[test]
    fn what_is_wanted_happens_as_a_whole_or_not_at_all() {
        let live = live();
        live.act(0, |_| Ok(vec![1, 2])).unwrap();
        check(&live, 3);
        assert_eq!(live.act(0, |_| Ok(vec![3, 5])), Err(Refusal::conflict("more than 10")));
        check(&live, 3);
        assert_eq!(live.act(0, |_| Ok(vec![2, 2])), Err(Refusal::internal("no file takes 7")));
        check(&live, 3);
        live.act(0, |sum| Ok(vec![10 - sum])).unwrap();
        check(&live, 10);
    }

    #[test]
    fn those_who_wait_together_are_answered_one_by_one() {
        let live = live();
        let all: Vec<_> = [4, 20, 5, 6]
            .into_iter()
            .map(|input| {
                let done = Arc::new(OnceLock::new());
                let wanted = Box::new(move |_: &u32| Ok(vec![1, input]));
                lock(&live.queue).push(Job { wanted, done: done.clone() });
                done
            })
            .collect();
        live.work_off(&mut live.draft(), 0);
        let taken: Vec<bool> = all.iter().map(|done| done.get().unwrap().is_ok()).collect();
        assert_eq!(taken, [true, false, false, false], "1 + 4, and no 1 of those who were refused");
        check(&live, 5);
    }

    #[test]
    fn after_a_panic_the_draft_is_what_is_shown() {
        let live = live();
        let panics = std::panic::AssertUnwindSafe(|| live.act(0, |_| Ok(vec![2, 1000])));
        assert!(std::panic::catch_unwind(panics).is_err());
        check(&live, 0);
        live.act(0, |_| Ok(vec![3])).unwrap();
        check(&live, 3);
    }
}
