package grammar

// beginsWithItself is why a rule cannot be followed.
const beginsWithItself = "begins with itself"

// prune takes out what can never be written to an end, and refuses rules that
// begin with themselves: looking for what may come next would never end.
func prune(r *rules) error {
	finite := r.fixpoint((*expr).finite)
	if !finite[0] {
		return &RuleError{Rule: r.names[0], Why: "has no text that ends"}
	}
	for i, e := range r.exprs {
		if finite[i] {
			e.cutEndless(finite)
		} else {
			r.exprs[i] = empty // nothing leads there
		}
	}
	return refuseLeftRecursion(r)
}

// fixpoint returns of which rules test is true, where that depends on the rules
// they refer to, and is false of those that depend on nothing else than each other.
func (r *rules) fixpoint(test func(e *expr, known []bool) bool) []bool {
	users := make([][]int, len(r.exprs))
	queue := make([]int, len(r.exprs))
	for i, e := range r.exprs {
		queue[len(queue)-1-i] = i // mostly a rule refers to later ones
		for _, to := range e.refs(nil) {
			users[to] = append(users[to], i)
		}
	}
	known := make([]bool, len(r.exprs))
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if !known[i] && test(r.exprs[i], known) {
			known[i] = true
			queue = append(queue, users[i]...)
		}
	}
	return known
}

// refs appends the rules that e refers to.
func (e *expr) refs(list []int) []int {
	if e.kind == ref {
		return append(list, e.rule)
	}
	for _, one := range e.list {
		list = one.refs(list)
	}
	return list
}

// finite reports whether e has a text that ends, if the rules in known have.
func (e *expr) finite(known []bool) bool {
	switch e.kind {
	case oneByte:
		return e.set != byteSet{}
	case ref:
		return known[e.rule]
	case repeat:
		return e.min == 0 || e.list[0].finite(known)
	case choice:
		for _, one := range e.list {
			if one.finite(known) {
				return true
			}
		}
		return false
	}
	for _, one := range e.list {
		if !one.finite(known) {
			return false
		}
	}
	return true
}

// cutEndless takes what is not finite out of e, which is.
func (e *expr) cutEndless(known []bool) {
	switch e.kind {
	case choice:
		kept := e.list[:0]
		for _, one := range e.list {
			if one.finite(known) {
				kept = append(kept, one)
			}
		}
		e.list = kept
	case repeat:
		if !e.list[0].finite(known) {
			e.max = 0
			return
		}
	}
	for _, one := range e.list {
		one.cutEndless(known)
	}
}

// refuseLeftRecursion looks for a rule that may come to itself before a byte.
func refuseLeftRecursion(r *rules) error {
	nullable := r.fixpoint((*expr).nullable)
	first := make([][]int, len(r.exprs)) // rules with which a rule may begin
	for i, e := range r.exprs {
		first[i] = e.first(nil, nullable)
	}
	state := make([]uint8, len(r.exprs)) // 1: on the way, 2: done
	type step struct{ rule, next int }
	for i := range r.exprs {
		if state[i] != 0 {
			continue
		}
		state[i] = 1
		for path := []step{{i, 0}}; len(path) > 0; {
			top := &path[len(path)-1]
			if top.next == len(first[top.rule]) {
				state[top.rule] = 2
				path = path[:len(path)-1]
				continue
			}
			to := first[top.rule][top.next]
			top.next++
			switch state[to] {
			case 1:
				return &RuleError{Rule: r.names[to], Why: beginsWithItself}
			case 0:
				state[to] = 1
				path = append(path, step{to, 0})
			}
		}
	}
	return nil
}

// nullable reports whether e may be nothing, if the rules in known may.
func (e *expr) nullable(known []bool) bool {
	switch e.kind {
	case oneByte:
		return false
	case ref:
		return known[e.rule]
	case repeat:
		return e.min == 0 || e.list[0].nullable(known)
	case choice:
		for _, one := range e.list {
			if one.nullable(known) {
				return true
			}
		}
		return false
	}
	for _, one := range e.list {
		if !one.nullable(known) {
			return false
		}
	}
	return true
}

// first appends the rules with which e may begin.
func (e *expr) first(list []int, nullable []bool) []int {
	switch e.kind {
	case ref:
		return append(list, e.rule)
	case repeat:
		if e.max == 0 {
			return list
		}
		return e.list[0].first(list, nullable)
	case choice:
		for _, one := range e.list {
			list = one.first(list, nullable)
		}
	case sequence:
		for _, one := range e.list {
			list = one.first(list, nullable)
			if !one.nullable(nullable) {
				break
			}
		}
	}
	return list
}
