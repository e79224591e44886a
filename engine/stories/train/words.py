"""Word lists for the story generator: whom stories are about, where they happen, names, moods."""


def split(text):
    """Words separated by blanks; an underscore stands for a blank inside a word."""
    return [w.replace("_", " ") for w in text.split()]


ANIMALS = split("""dog cat fox owl rabbit bear elephant mouse horse duck frog penguin puppy kitten wolf lion tiger
monkey giraffe zebra deer hedgehog squirrel beaver badger mole hamster goat sheep lamb cow calf pig piglet donkey pony
hen rooster chick goose swan robin sparrow crow raven eagle hawk parrot peacock stork pigeon dove seagull bat turtle
tortoise snake lizard crocodile toad snail worm spider ant bee wasp butterfly moth beetle ladybug cricket grasshopper
dragonfly firefly fish goldfish whale dolphin shark octopus crab lobster seal walrus otter rhino hippo buffalo camel
llama kangaroo koala panda sloth raccoon skunk weasel ferret moose reindeer polar_bear bull ox ram foal cub fawn
caterpillar starfish jellyfish salmon trout heron crane woodpecker canary flamingo ostrich emu turkey gorilla leopard
cheetah panther lynx jaguar rat guinea_pig hare mule stallion mare poodle beagle bulldog sheepdog bunny mosquito fly
bumblebee magpie cuckoo nightingale falcon vulture swallow ladybird newt salamander iguana chameleon cobra python eel
squid shrimp clam oyster antelope gazelle bison boar elk yak mammoth dinosaur armadillo porcupine chipmunk""")
PERSONS_F = split("""girl princess queen grandmother mother aunt sister witch nurse seamstress dancer woman old_woman lady
milkmaid waitress duchess countess actress shepherdess daughter granny bride housewife ballerina stewardess""")
PERSONS_M = split("""boy prince king grandfather father uncle brother wizard sailor blacksmith woodcutter man old_man knight
fisherman monk postman miller cowboy sorcerer duke emperor son grandpa lord huntsman gentleman watchman fireman""")
PERSONS_X = split("""teacher baker farmer doctor pirate painter gardener musician clown cook hunter explorer captain tailor
shepherd librarian detective thief spy student singer poet writer inventor scientist astronaut pilot driver soldier
potter carpenter shoemaker beekeeper merchant beggar juggler acrobat magician child baby twin neighbor stranger guard
judge mayor traveler hiker swimmer runner athlete skater surfer miner builder engineer mechanic artist photographer
dentist barber butcher grocer waiter chef goalkeeper champion orphan hermit nomad ranger diver rider drummer guitarist
toymaker clockmaker candlemaker weaver lifeguard reporter principal dreamer hero genius grandchild cousin friend""")
FANTASY = split("""dragon robot ghost unicorn fairy giant elf dwarf goblin troll monster mermaid phoenix vampire werewolf
snowman scarecrow alien gnome ogre pixie sea_monster griffin zombie genie yeti puppet skeleton mummy angel imp sprite
superhero android cyborg leprechaun sphinx nymph gargoyle golem""")
THINGS = split("""teapot clock lamp candle key button ring shoe boot hat scarf umbrella kite ball balloon doll teddy_bear drum
flute violin guitar piano bell book letter pencil pen paintbrush cup spoon fork plate bowl kettle basket broom bucket
ladder hammer needle mirror comb pillow blanket chair table bed sock glove coat coin feather shell stone pebble acorn
apple pear plum cherry orange lemon banana strawberry pumpkin carrot potato onion tomato mushroom cake cookie bun loaf
sandwich pizza egg rose tulip daisy sunflower leaf seed snowflake lantern compass map box bottle jar toy rope chain
crown sword shield backpack suitcase wheel bicycle sled scooter radio phone computer camera toaster fridge oven
stamp puzzle marble whistle trunk jewel diamond pearl necklace bracelet watch ribbon thread quilt rug curtain vase
brick nail sponge soap towel toothbrush ticket poster flag mask magnet battery donut muffin cupcake cheese honey_jar
peanut walnut chestnut raindrop crayon notebook diary song_book harp trombone xylophone tambourine rattle yo-yo""")
PLACES_BIG = split("""tree boat train lighthouse cloud star house castle tower bridge mill windmill ship sailboat rocket bus car truck
tractor wagon airplane helicopter hot-air_balloon submarine mountain hill river lake island moon sun comet planet
rainbow wind storm oak apple_tree pine willow bush cactus garden forest meadow school library church barn cottage hut
tent bakery shop museum theater fountain well statue fence gate road path street tunnel cave waterfall wave iceberg
glacier desert snow_pile carousel ferris_wheel swing bench signpost mailbox chimney roof door window staircase elevator
fire_engine ambulance taxi ferry raft canoe harbor village town city zoo circus farm palace pyramid greenhouse""")

NAMES_F = split("""Mina Lily Nora Ella Ruby Luna Clara Daisy Hazel Ivy Rosa Greta Molly Penny Tilly Anna Emma Sofia Maya Zoe Lucy
Alice Bella Cora Dora Edith Flora Gina Holly Irma Jenny Kate Lena Mary Nina Olive Pearl Rita Sara Tess Uma Vera Wendy
Amy Betty Carla Elsa Fanny Heidi June Kira Lola Mabel Nelly Polly Sally Susie Tina Willa Ada Bonnie Maggie""")
NAMES_M = split("""Tom Max Ben Leo Oscar Felix Hugo Otto Jack Sam Theo Finn Milo Noah Paul Peter Rufus Simon Toby Victor Walter Adam
Bruno Carl David Emil Fred George Henry Ivan James Karl Louis Martin Ned Oliver Philip Ralph Robert Stan Tim Arthur
Albert Bert Charlie Eddie Frank Gus Harry Jim Kurt Lars Nick Pip Rocky Sammy Ted Will Alex Benny Barney Monty""")

ADJECTIVES = split("""little small young old brave shy clever lazy kind curious quiet lonely hungry tiny big tall happy sleepy proud
gentle friendly grumpy careful cheerful silly wise strong red blue green golden white black brown gray purple yellow
striped spotted fluffy tired busy forgetful honest jealous magic magical invisible talking flying singing dancing lost
broken rusty shiny wooden beautiful ugly round clumsy polite stubborn greedy noisy nervous dreamy patient""")

# Places: (in it), (the place), things that stand there, who may come along.
WOODS = split("old_fox gray_owl red_squirrel busy_beaver kind_badger young_deer wise_raven sleepy_bear")
YARD = split("brown_hen fat_goose old_donkey gray_cat friendly_goat barn_mouse white_horse proud_rooster")
STREET = split("old_baker tall_postman street_musician young_nurse kind_neighbor flower_seller little_girl little_boy")
SHORE = split("old_fisherman white_seagull small_crab gray_seal young_sailor green_turtle lighthouse_keeper wise_pelican")
ROOM = split("little_mouse black_cat old_spider kind_aunt small_boy little_girl gray_moth quiet_grandfather")
SKY = split("wandering_star silver_comet small_robot friendly_alien sleepy_cloud old_astronaut bright_moth lost_bird")
PLACES = {
    "forest": ("in the forest", "the forest", split("the_hollow_oak the_mossy_rock the_fern_path the_fallen_log the_berry_bushes"), WOODS),
    "woods": ("in the woods", "the woods", split("the_crooked_pine the_little_spring the_fox_hole the_old_stump the_thorn_bush"), WOODS),
    "jungle": ("in the jungle", "the jungle", split("the_tall_palm the_muddy_pool the_hanging_vines the_red_flowers the_old_temple"), split("green_parrot clever_monkey slow_tortoise old_elephant young_tiger tree_frog")),
    "farm": ("on a farm", "the farm", split("the_red_barn the_hay_cart the_duck_pond the_stone_wall the_apple_tree"), YARD),
    "meadow": ("in a meadow", "the meadow", split("the_tall_grass the_poppy_patch the_lonely_willow the_rabbit_hole the_wooden_gate"), YARD),
    "village": ("in a village", "the village", split("the_village_well the_market_square the_bakery the_church_tower the_small_bridge"), STREET),
    "town": ("in a small town", "the town", split("the_town_hall the_train_station the_corner_shop the_park_bench the_old_fountain"), STREET),
    "city": ("in a big city", "the city", split("the_bus_stop the_tall_tower the_flower_market the_busy_crossing the_river_bank"), STREET),
    "castle": ("in a castle", "the castle", split("the_iron_gate the_long_hall the_round_tower the_kitchen_stairs the_rose_garden"), split("old_knight royal_cook young_page palace_gardener court_jester stable_boy")),
    "sea": ("by the sea", "the shore", split("the_white_cliff the_fishing_boats the_tide_pool the_long_pier the_sand_dunes"), SHORE),
    "island": ("on an island", "the island", split("the_black_rocks the_coconut_tree the_quiet_bay the_sandy_hill the_old_shipwreck"), SHORE),
    "harbor": ("in a harbor", "the harbor", split("the_wooden_dock the_rusty_anchor the_net_racks the_ferry_house the_stone_steps"), SHORE),
    "lake": ("by a lake", "the lake", split("the_reed_bed the_flat_stone the_rowing_boat the_wooden_bridge the_willow_roots"), WOODS),
    "river": ("by a river", "the river", split("the_water_wheel the_stepping_stones the_muddy_bank the_old_ferry the_alder_tree"), WOODS),
    "mountain": ("in the mountains", "the mountain", split("the_narrow_pass the_snowy_peak the_goat_path the_shepherd's_hut the_cold_stream"), split("mountain_goat lonely_shepherd old_eagle snow_hare gray_wolf young_hiker")),
    "valley": ("in a green valley", "the valley", split("the_winding_brook the_stone_mill the_orchard the_steep_hill the_clover_field"), YARD),
    "garden": ("in a garden", "the garden", split("the_rose_bed the_tool_shed the_bean_poles the_bird_bath the_garden_wall"), split("green_beetle old_gardener gray_snail blue_butterfly robin_redbreast fat_bumblebee")),
    "park": ("in the park", "the park", split("the_bandstand the_duck_pond the_chestnut_tree the_iron_bench the_playground"), STREET),
    "house": ("in an old house", "the house", split("the_tall_cupboard the_back_stairs the_kitchen_table the_fireplace the_round_window"), ROOM),
    "attic": ("in a dusty attic", "the attic", split("the_broken_chair the_heavy_chest the_small_window the_book_pile the_spider_web"), ROOM),
    "kitchen": ("in a warm kitchen", "the kitchen", split("the_iron_stove the_bread_bin the_copper_pans the_spice_rack the_back_door"), ROOM),
    "school": ("in a school", "the school", split("the_blackboard the_coat_hooks the_music_room the_globe the_school_yard"), split("kind_teacher new_pupil friendly_janitor tall_girl quiet_boy little_mouse")),
    "library": ("in a library", "the library", split("the_reading_lamp the_highest_shelf the_map_table the_heavy_door the_armchair"), split("kind_librarian book_mouse old_professor quiet_girl curious_boy gray_cat")),
    "toy shop": ("in a toy shop", "the toy shop", split("the_shop_window the_train_set the_doll_shelf the_counter the_puppet_box"), split("tin_soldier rag_doll wooden_horse old_toymaker little_girl jack-in-the-box")),
    "desert": ("in the desert", "the desert", split("the_lonely_cactus the_dry_well the_red_dune the_palm_spring the_flat_rock"), split("old_camel desert_fox wandering_trader small_lizard sand_snake young_nomad")),
    "snow": ("in the snowy north", "the snow", split("the_frozen_lake the_ice_cave the_snow_hill the_dark_pines the_sled_track"), split("snow_hare white_owl young_reindeer polar_bear_cub old_hunter gray_seal")),
    "space": ("among the stars", "the sky", split("the_red_planet the_dark_side_of_the_moon the_long_comet_tail the_silver_ring the_star_gate"), SKY),
    "circus": ("in a circus", "the circus", split("the_big_tent the_ticket_booth the_painted_wagon the_high_rope the_lion_cage"), split("old_clown young_acrobat dancing_bear strong_man tiny_pony drum_player")),
}
HOME_OF = {
    "animal": split("forest woods farm meadow village lake river valley garden park jungle mountain town island"),
    "person": split("village town city castle harbor mountain valley island farm sea school library"),
    "fantasy": split("forest castle mountain woods village island valley attic lake city"),
    "thing": split("house attic kitchen village town school library garden castle city") + ["toy shop"],
    "big": split("village town valley sea farm island city mountain meadow"),
}
WATER = set(split("""fish goldfish whale dolphin shark octopus crab lobster seal walrus starfish jellyfish salmon trout eel squid shrimp clam
oyster mermaid sea_monster boat ship sailboat submarine wave ferry raft canoe sailor fisherman pirate lighthouse harbor"""))
COLD = set(split("penguin polar_bear reindeer snowman yeti snowflake iceberg glacier walrus sled mammoth"))
HIGH = set(split("star moon sun comet planet rocket astronaut alien"))

MOODS = split("sad funny scary magical bedtime happy exciting spooky silly cheerful")
THEMES = split("""friendship courage honesty kindness patience sharing hope trust love family bravery luck music winter spring summer autumn
teamwork home dreams peace happiness christmas school holidays""")
