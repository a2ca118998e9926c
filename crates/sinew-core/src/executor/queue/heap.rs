//! An indexed binary heap: the smallest key comes first, and any entry can be found, moved or
//! removed by its id.
//!
//! Ids are small and dense (the indices of a slab), so a table keeps each id's place in the heap:
//!
//! - `entries` is a binary min-heap by key: the children of place `p` are `2p + 1` and `2p + 2`,
//!   and no child's key is smaller than its parent's;
//! - `places[id]` is the place of `id` in `entries`, or `ABSENT`. Every write to `entries` also
//!   writes `places`.
//!
//! A push with the largest key so far, as in arrival order, costs one comparison; pushing to and
//! popping from a heap of one entry costs none.
//!
//! Single-threaded. Memory grows with the number of entries and the largest id, and never shrinks.

/// Converts an index of a slab to an id.
pub(crate) fn index(n: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "four thousand million entities need more memory than there is")]
    u32::try_from(n).expect("fewer than 2^32 entities")
}

/// Value in `places` of an id that isn't in the heap.
const ABSENT: usize = usize::MAX;

/// A min-heap of ids by key. Ids with equal keys leave in no particular order: where order matters,
/// keys are unique.
#[derive(Debug)]
pub(crate) struct Heap<K> {
    entries: Vec<(K, u32)>,
    places: Vec<usize>,
}

impl<K: Ord + Copy> Heap<K> {
    /// Creates an empty heap, which allocates nothing.
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), places: Vec::new() }
    }

    /// Reserves memory, so that pushing ids below `ids` never allocates.
    pub(crate) fn reserve(&mut self, ids: u32) {
        self.entries.reserve((ids as usize).saturating_sub(self.entries.len()));
        if let Some(largest) = ids.checked_sub(1) {
            self.admit(largest);
        }
    }

    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.place(id).is_some()
    }

    /// Returns the key of an id that is in the heap.
    #[cfg(test)]
    pub(crate) fn key(&self, id: u32) -> Option<K> {
        self.place(id).map(|place| self.entries[place].0)
    }

    /// Returns the smallest key and its id.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    /// Returns every entry, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, K)> + '_ {
        self.entries.iter().map(|&(key, id)| (id, key))
    }

    /// Adds an id that isn't in the heap. O(log n); allocates when it has to grow.
    #[inline]
    pub(crate) fn push(&mut self, id: u32, key: K) {
        debug_assert!(!self.contains(id), "id {id} is pushed to a heap that holds it: `update` moves it");
        if id as usize >= self.places.len() {
            self.admit(id);
        }
        let place = self.entries.len();
        self.entries.push((key, id));
        if place > 0 && key < self.entries[(place - 1) / 2].0 {
            self.rise(place, key, id);
        } else {
            self.places[id as usize] = place;
        }
    }

    /// Gives an id a key, whether it is in the heap or not. O(log n); allocates when it has to
    /// grow.
    #[inline]
    pub(crate) fn update(&mut self, id: u32, key: K) {
        match self.place(id) {
            Some(place) => self.settle(place, key, id),
            None => self.push(id, key),
        }
    }

    /// Takes out the smallest key and its id. O(log n).
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(K, u32)> {
        let last = self.entries.pop()?;
        let head = match self.entries.first() {
            None => last,
            Some(&head) => {
                self.sink(0, last.0, last.1);
                head
            }
        };
        self.places[head.1 as usize] = ABSENT;
        Some(head)
    }

    /// Takes out an id and returns its key, if it is in the heap. O(log n).
    pub(crate) fn remove(&mut self, id: u32) -> Option<K> {
        let place = self.place(id)?;
        let last = self.entries.pop()?;
        let key = if place == self.entries.len() {
            last.0
        } else {
            let key = self.entries[place].0;
            self.settle(place, last.0, last.1);
            key
        };
        self.places[id as usize] = ABSENT;
        Some(key)
    }

    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        self.places.get(id as usize).copied().filter(|&place| place != ABSENT)
    }

    /// Extends the table of places up to an id.
    #[cold]
    fn admit(&mut self, id: u32) {
        if id as usize >= self.places.len() {
            self.places.resize(id as usize + 1, ABSENT);
        }
    }

    /// Moves an entry to its place in the heap, starting from a place with obsolete content.
    fn settle(&mut self, place: usize, key: K, id: u32) {
        if place > 0 && key < self.entries[(place - 1) / 2].0 {
            self.rise(place, key, id);
        } else {
            self.sink(place, key, id);
        }
    }

    /// Moves parents with larger keys down into the obsolete place, and puts the entry into the
    /// last place that this frees.
    ///
    /// Not inlined, as `sink`: `push` and `pop` of a short heap, which need neither, stay a few
    /// instructions long.
    #[inline(never)]
    fn rise(&mut self, mut place: usize, key: K, id: u32) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent].0 <= key {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, (key, id));
    }

    /// Moves the smaller child up into the obsolete place while its key is smaller, and puts the
    /// entry into the last place that this frees.
    #[inline(never)]
    fn sink(&mut self, mut place: usize, key: K, id: u32) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(&(mut smaller, _)) = self.entries.get(left) else { break };
            let mut child = left;
            if let Some(&(right_key, _)) = self.entries.get(right)
                && right_key < smaller
            {
                (child, smaller) = (right, right_key);
            }
            if key <= smaller {
                break;
            }
            self.put(place, self.entries[child]);
            place = child;
        }
        self.put(place, (key, id));
    }

    #[inline]
    fn put(&mut self, place: usize, entry: (K, u32)) {
        self.entries[place] = entry;
        self.places[entry.1 as usize] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Debug, Clone, Copy)]
    enum Operation {
        /// Pushes an id, unless it is there.
        Push(u32, u8),
        Update(u32, u8),
        Remove(u32),
        Pop,
        Reserve(u32),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            3 => (0..24_u32, any::<u8>()).prop_map(|(id, key)| Operation::Push(id, key)),
            2 => (0..24_u32, any::<u8>()).prop_map(|(id, key)| Operation::Update(id, key)),
            2 => (0..32_u32).prop_map(Operation::Remove),
            2 => Just(Operation::Pop),
            1 => (0..16_u32).prop_map(Operation::Reserve),
        ]
    }

    /// Applies an operation to the heap and to a map, and compares their results.
    fn apply(operation: Operation, heap: &mut Heap<u8>, model: &mut BTreeMap<u32, u8>) {
        match operation {
            Operation::Push(id, _) if model.contains_key(&id) => {}
            Operation::Push(id, key) => {
                heap.push(id, key);
                model.insert(id, key);
            }
            Operation::Update(id, key) => {
                heap.update(id, key);
                model.insert(id, key);
            }
            Operation::Remove(id) => assert_eq!(heap.remove(id), model.remove(&id)),
            Operation::Pop => match heap.pop() {
                None => assert!(model.is_empty()),
                Some((key, id)) => {
                    assert_eq!(Some(&key), model.values().min());
                    assert_eq!(model.remove(&id), Some(key));
                }
            },
            Operation::Reserve(ids) => heap.reserve(ids),
        }
    }

    /// Checks that the heap equals the map and keeps its invariants.
    fn check(heap: &Heap<u8>, model: &BTreeMap<u32, u8>) {
        assert_eq!(heap.len(), model.len());
        assert_eq!(heap.is_empty(), model.is_empty());
        assert_eq!(heap.peek().map(|(key, _)| key), model.values().min().copied());
        assert_eq!(&heap.iter().collect::<BTreeMap<_, _>>(), model);
        for id in 0..40 {
            assert_eq!(heap.contains(id), model.contains_key(&id));
            assert_eq!(heap.key(id), model.get(&id).copied());
        }
        for (place, &(key, id)) in heap.entries.iter().enumerate() {
            assert_eq!(heap.places[id as usize], place);
            assert!(place == 0 || heap.entries[(place - 1) / 2].0 <= key);
        }
    }

    proptest! {
        #[test]
        fn does_what_a_map_does(operations in vec(operation(), 0..300)) {
            let (mut heap, mut model) = (Heap::new(), BTreeMap::new());
            for operation in operations {
                apply(operation, &mut heap, &mut model);
                check(&heap, &model);
            }
        }

        #[test]
        fn unique_keys_leave_in_order(keys in vec(any::<i64>(), 0..200)) {
            let mut heap = Heap::new();
            for (id, &key) in (0..).zip(&keys) {
                heap.push(id, (key, id));
            }
            let mut sorted: Vec<_> = keys.iter().copied().zip(0..).collect();
            sorted.sort_unstable();
            let popped: Vec<_> = std::iter::from_fn(|| heap.pop()).map(|(key, _)| key).collect();
            prop_assert_eq!(popped, sorted);
        }
    }

    #[test]
    fn an_empty_heap_owns_no_memory() {
        let heap = Heap::<i64>::new();
        assert_eq!((heap.entries.capacity(), heap.places.capacity()), (0, 0));
    }

    #[test]
    fn reserved_ids_never_grow_it() {
        let mut heap = Heap::new();
        heap.reserve(100);
        let before = (heap.entries.capacity(), heap.places.capacity());
        (0..100).for_each(|id| heap.push(id, 100 - id));
        assert_eq!((heap.entries.capacity(), heap.places.capacity()), before);
        assert_eq!(heap.pop(), Some((1, 99)));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "id 7 is pushed to a heap that holds it")]
    fn pushing_twice_is_a_bug() {
        let mut heap = Heap::new();
        heap.push(7, 1);
        heap.push(7, 2);
    }
}
